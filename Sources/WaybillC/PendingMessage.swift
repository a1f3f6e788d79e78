internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// A message that a host's callback has, and what its handler waits for.
///
/// An opaque pointer to it is the host's `waybill_message`. The host holds a message that it has to end; it
/// is ended once, by the host or because its caller has given up, and what comes later changes nothing.
final class PendingMessage: Sendable {
    let url: CText
    let parameters: CText
    let payload: CText?
    private let reply = LoopContinuation<Result<JSONText, any Error>>(on: .current)
    private let isEnded = Locked(false)

    /// Why a host could not answer, in its own words.
    struct HostFailure: Error, CustomStringConvertible {
        let description: String
    }

    init(_ message: Message) throws(RoutingError) {
        self.url = CText(message.address.text)
        var parameters: [String: any Sendable] = message.parameters.all
        for (name, value) in message.parameters.call { parameters[name] = value }
        self.parameters = CText(try JSONWriter.encoded(parameters))
        self.payload = try message.payload.map { payload throws(RoutingError) in
            CText(try JSONWriter.encoded(payload))
        }
    }

    /// Gives the message to the host, and waits until it is ended.
    nonisolated(nonsending) func answer(by host: HostHandler) async throws -> JSONText {
        try await self.reply.wait(isolation: #isolation) {
            host.call(self)
        } onCancel: {
            self.end(.failure(CancellationError()))
        }.get()
    }

    func end(_ result: Result<JSONText, any Error>) {
        let isFirst = self.isEnded.withLock { isEnded in
            defer { isEnded = true }
            return !isEnded
        }
        if isFirst { self.reply.resume(returning: result) }
    }

    /// A pointer for the host, which holds the message until it ends it.
    var retained: OpaquePointer {
        // Released by `take`, which the host brings about once.
        unsafe OpaquePointer(Unmanaged.passRetained(self).toOpaque())
    }

    /// A pointer for the host, for as long as the message is held here.
    var borrowed: OpaquePointer { unsafe OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    static func of(_ pointer: OpaquePointer?) -> PendingMessage? {
        // The host keeps to the header: the pointer is one that `retained` or `borrowed` has made, and is
        // valid.
        unsafe pointer.map {
            unsafe Unmanaged<PendingMessage>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue()
        }
    }

    /// Ends a message of the host's, which gives its pointer back.
    static func end(_ pointer: OpaquePointer?, _ body: () throws -> Result<JSONText, any Error>) -> Int32 {
        guard let message = unsafe self.of(pointer) else { return HostStatus.invalidArgument.rawValue }
        do {
            message.end(try body())
            // Balances `retained`: the host ends a message once.
            unsafe Unmanaged.passUnretained(message).release()
            return HostStatus.ok.rawValue
        } catch {
            return HostStatus.invalidArgument.rawValue
        }
    }
}
