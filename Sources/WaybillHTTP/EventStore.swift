#if HTTP
internal import NIOCore
internal import Waybill
internal import WaybillEventLoop

/// The encoded events of all feeds of a gateway, and how many bytes they have together.
///
/// Each part of an event that several feeds have in common is stored once. When there are too many bytes, the
/// oldest parts are dropped, whichever feed has them: its clients learn that they have missed an event.
final class EventStore: Sendable {
    /// Bytes in the store, for as long as any feed keeps them.
    final class Part: Sendable {
        fileprivate let number: Int
        private let store: EventStore

        fileprivate init(_ number: Int, _ store: EventStore) {
            self.number = number
            self.store = store
        }

        deinit { self.store.remove(self.number) }

        /// Lends the bytes to a client, to which they are written.
        ///
        /// Returns nil if the bytes were dropped, or if clients that do not read hold too many bytes already.
        func lend() -> Loan? { self.store.lend(self.number).map { Loan($0, of: self.number, self.store) } }
    }

    /// The bytes of a part while they are written to a client.
    final class Loan: Sendable {
        let bytes: ByteBuffer
        private let number: Int
        private let store: EventStore

        fileprivate init(_ bytes: ByteBuffer, of number: Int, _ store: EventStore) {
            self.bytes = bytes
            self.number = number
            self.store = store
        }

        deinit { self.store.endLoan(of: self.number) }
    }

    private struct State {
        var parts: [Int: ByteBuffer] = [:]
        /// No part has a lower number.
        var oldest = 1
        var last = 0
        var size = 0
        /// The parts that are being written, by number; each counts once, however many clients get it.
        var loans: [Int: (count: Int, bytes: ByteBuffer)] = [:]
        var loanedSize = 0

        mutating func drop(_ number: Int) {
            if let bytes = self.parts.removeValue(forKey: number) { self.size -= EventStore.size(of: bytes) }
        }
    }

    /// Parts up to this size are lent although clients hold too many bytes: a client holds one at a time.
    private static let smallSize = 4096
    /// About how many bytes a part takes beside its own.
    private static let overhead = 256

    private let limit: Int
    private let state = Locked(State())
    private let recent = Locked<[SharedPart]>([])

    /// Makes a store.
    ///
    /// - Parameter limit: how many bytes it keeps, and how many clients may hold at the same time.
    init(limit: Int) { self.limit = limit }

    /// How many bytes the store keeps.
    var size: Int { self.state.withLock { $0.size } }

    /// Stores bytes; the newest part is kept, whatever its size.
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

    /// The part that the messages of one publication have in common, which is encoded for the first of them.
    ///
    /// - Parameters:
    ///   - content: the values of the publication, by identity.
    ///   - encode: makes the bytes.
    /// - Returns: The part.
    func part(for content: SharedContent, _ encode: () -> ByteBuffer) -> Part {
        let (shared, forgotten) = self.recent.withLock { recent in
            if let shared = recent.first(where: { $0.content == content }) {
                return (shared, nil as SharedPart?)
            }
            let shared = SharedPart(content)
            recent.append(shared)
            return (shared, recent.count > SharedPart.limit ? recent.removeFirst() : nil)
        }
        // Values of the program may end with it, which they must not do under a lock.
        withExtendedLifetime(forgotten) {}
        return shared.part { self.add(encode()) }
    }

    private func remove(_ number: Int) { self.state.withLock { $0.drop(number) } }

    private func lend(_ number: Int) -> ByteBuffer? {
        self.state.withLock { state in
            if let loan = state.loans[number] {
                state.loans[number]?.count += 1
                return loan.bytes
            }
            guard let bytes = state.parts[number] else { return nil }
            let size = Self.size(of: bytes)
            guard state.loanedSize + size <= self.limit || size <= Self.smallSize else { return nil }
            state.loans[number] = (1, bytes)
            state.loanedSize += size
            return bytes
        }
    }

    private func endLoan(of number: Int) {
        self.state.withLock { state in
            guard let loan = state.loans[number] else { return }
            state.loans[number] = loan.count == 1 ? nil : (loan.count - 1, loan.bytes)
            if loan.count == 1 { state.loanedSize -= Self.size(of: loan.bytes) }
        }
    }

    private static func size(of bytes: ByteBuffer) -> Int { bytes.readableBytes + Self.overhead }
}

/// The shared part of a recent publication: the feeds encode a publication at about the same time.
private final class SharedPart: Sendable {
    /// How many publications are remembered, whose values are kept that long.
    static let limit = 8

    let content: SharedContent
    private let encoded = Locked<EventStore.Part?>(nil)

    init(_ content: SharedContent) { self.content = content }

    /// The part, which the first caller makes while the others wait.
    func part(_ make: () -> EventStore.Part) -> EventStore.Part {
        self.encoded.withLock { part in
            if let part { return part }
            let made = make()
            part = made
            return made
        }
    }
}
#endif
