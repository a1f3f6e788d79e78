#if HTTP
internal import NIOCore
internal import Waybill
internal import WaybillEventLoop

/// The encoded events of all feeds of a gateway, with a limit on their total size.
///
/// Events of several feeds may contain the same part, which is stored once. When the limit is exceeded, the
/// store drops the oldest parts. The clients of the feeds that used these parts receive a `gap` event.
final class EventStore: Sendable {
    /// Bytes in the store.
    ///
    /// The store keeps the bytes until this object is released or the limit is exceeded.
    final class Part: Sendable {
        fileprivate let number: Int
        private let store: EventStore

        fileprivate init(_ number: Int, _ store: EventStore) {
            self.number = number
            self.store = store
        }

        deinit { self.store.remove(self.number) }

        /// Returns the bytes, so that they can be written to a client; `client` is nil if it is unknown.
        ///
        /// Returns nil when the bytes have been dropped, or when too many bytes are being written to slow
        /// clients.
        func lend(to client: String?) -> Loan? {
            let client = self.store.limitsClients ? client : nil
            return self.store.lend(self.number, to: client)
                .map { Loan($0, of: self.number, to: client, self.store) }
        }
    }

    /// The bytes of a part while they are being written to a client.
    final class Loan: Sendable {
        let bytes: ByteBuffer
        private let number: Int
        private let client: String?
        private let store: EventStore

        fileprivate init(_ bytes: ByteBuffer, of number: Int, to client: String?, _ store: EventStore) {
            self.bytes = bytes
            self.number = number
            self.client = client
            self.store = store
        }

        deinit { self.store.endLoan(of: self.number, to: self.client) }
    }

    /// The kinds of parts that events of several feeds share.
    enum PartKind: Hashable {
        /// The passed values and the payload of a message.
        case values
        /// The data of a CloudEvents event.
        case data
    }

    private struct State {
        var parts: [Int: ByteBuffer] = [:]
        /// A number that is less than or equal to the number of every stored part.
        var oldest = 1
        var last = 0
        var size = 0
        /// The parts that are being written, by number.
        ///
        /// The size of each part counts once, even if several clients receive the part.
        var loans: [Int: (count: Int, bytes: ByteBuffer)] = [:]
        var loanedSize = 0
        /// The sizes of the parts that are being written to each client, by the address of the client.
        var clients: [String: Int] = [:]

        mutating func drop(_ number: Int) {
            if let bytes = self.parts.removeValue(forKey: number) { self.size -= EventStore.size(of: bytes) }
        }
    }

    /// The largest size of a part that may be written even when the limit is reached.
    ///
    /// Each client receives the parts of only one event at a time, so these parts do not accumulate.
    private static let smallSize = 4096
    /// The approximate number of bytes that a part takes in addition to its content.
    private static let overhead = 256

    private let limit: Int
    private let limitsClients: Bool
    private let state = Locked(State())
    private let recent = Locked<[SharedParts]>([])

    /// Creates a store whose limit applies to the stored bytes, and separately to the bytes being written.
    ///
    /// If `limitsClients` is true, one client address may use half of the limit for the bytes being written.
    init(limit: Int, limitsClients: Bool = true) {
        self.limit = limit
        self.limitsClients = limitsClients
    }

    /// The number of bytes that the store keeps.
    var size: Int { self.state.withLock { $0.size } }

    /// Stores bytes, and drops the oldest parts when the limit is exceeded.
    ///
    /// The newest part is always kept.
    func add(_ bytes: ByteBuffer) -> Part {
        let number = self.state.withLock { state in
            state.last += 1
            state.parts[state.last] = bytes
            state.size += Self.size(of: bytes)
            while state.size > self.limit, state.oldest < state.last {
                state.drop(state.oldest)
                state.oldest += 1
            }
            return state.last
        }
        return Part(number, self)
    }

    /// Returns the part of a kind for the messages of one publication, which `content` identifies.
    ///
    /// The first call for a publication and a kind encodes the part. Later calls return the same part.
    func part(_ kind: PartKind, of content: SharedContent, _ encode: () -> ByteBuffer) -> Part {
        let (shared, _) = self.recent.withLock { recent in
            if let shared = recent.first(where: { $0.content == content }) {
                return (shared, nil as SharedParts?)
            }
            let shared = SharedParts(content)
            recent.append(shared)
            return (shared, recent.count > SharedParts.limit ? recent.removeFirst() : nil)
        }
        return shared.part(kind) { self.add(encode()) }
    }

    private func remove(_ number: Int) { self.state.withLock { $0.drop(number) } }

    private func lend(_ number: Int, to client: String?) -> ByteBuffer? {
        self.state.withLock { state in
            let loan = state.loans[number]
            guard let bytes = loan?.bytes ?? state.parts[number] else { return nil }
            let size = Self.size(of: bytes)
            let isWithinLimits =
                (loan != nil || state.loanedSize + size <= self.limit)
                && client.map { state.clients[$0, default: 0] + size <= self.limit / 2 } ?? true
            guard isWithinLimits || size <= Self.smallSize else { return nil }
            state.loans[number] = ((loan?.count ?? 0) + 1, bytes)
            if loan == nil { state.loanedSize += size }
            if let client { state.clients[client, default: 0] += size }
            return bytes
        }
    }

    private func endLoan(of number: Int, to client: String?) {
        self.state.withLock { state in
            guard let loan = state.loans[number] else { return }
            let size = Self.size(of: loan.bytes)
            state.loans[number] = loan.count == 1 ? nil : (loan.count - 1, loan.bytes)
            if loan.count == 1 { state.loanedSize -= size }
            guard let client, let loaned = state.clients[client] else { return }
            state.clients[client] = loaned == size ? nil : loaned - size
        }
    }

    private static func size(of bytes: ByteBuffer) -> Int { bytes.readableBytes + Self.overhead }
}

/// The shared parts of a recent publication.
///
/// All feeds that receive a publication encode it at about the same time, so few publications must be
/// remembered.
private final class SharedParts: Sendable {
    /// The number of publications whose shared parts are remembered.
    static let limit = 8

    let content: SharedContent
    private let encoded = Locked<[EventStore.PartKind: EventStore.Part]>([:])

    init(_ content: SharedContent) { self.content = content }

    /// Returns the part of a kind.
    ///
    /// The first caller encodes the part, and other callers wait for it.
    func part(_ kind: EventStore.PartKind, _ make: () -> EventStore.Part) -> EventStore.Part {
        self.encoded.withLock { parts in
            if let part = parts[kind] { return part }
            let made = make()
            parts[kind] = made
            return made
        }
    }
}
#endif
