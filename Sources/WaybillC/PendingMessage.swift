internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// A message that a C program (the host) handles, and the reply for which the caller waits.
///
/// The host's `waybill_message` is an opaque pointer to this object. The message ends once: when the host
/// ends it, or when its caller is cancelled. A later end has no effect.
final class PendingMessage: Sendable {
    let url: CText
    let parameters: CText
    let payload: CText?
    private let reply = LoopContinuation<Result<JSONText, any Error>>(on: .current)
    private let isEnded = Locked(false)

    /// The failure of a message, with the host's description.
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

    /// Passes the message to the host, and waits until it has ended.
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

    /// A pointer for the host, which retains the message until the host ends it.
    var retained: OpaquePointer {
        // `end` releases it, and the host calls that once.
        unsafe OpaquePointer(Unmanaged.passRetained(self).toOpaque())
    }

    /// A pointer for the host, valid as long as this process retains the message.
    var borrowed: OpaquePointer { unsafe OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    static func of(_ pointer: OpaquePointer?) -> PendingMessage? {
        // The header requires a valid pointer that `retained` or `borrowed` has made.
        unsafe pointer.map {
            unsafe Unmanaged<PendingMessage>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue()
        }
    }

    /// Completes a message that the C program handles, and releases the program's pointer to it.
    ///
    /// - Parameters:
    ///   - pointer: The pointer.
    ///   - body: Returns the outcome. If it throws, the message stays open.
    /// - Returns: The code of a `HostStatus`.
    static func end(_ pointer: OpaquePointer?, _ body: () throws -> Result<JSONText, any Error>) -> Int32 {
        guard let message = unsafe self.of(pointer) else { return HostStatus.invalidArgument.rawValue }
        do {
            message.end(try body())
            // Balances `retained`, because the host ends a message once.
            unsafe Unmanaged.passUnretained(message).release()
            return HostStatus.ok.rawValue
        } catch {
            return HostStatus.invalidArgument.rawValue
        }
    }
}
