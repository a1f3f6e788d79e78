internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// A message that a C program (the host) handles, and the reply for which the caller waits.
///
/// The host's `waybill_message` is an opaque pointer to this object. The message is completed once: when the
/// host replies or reports a failure, or when the caller is cancelled. A later reply or failure has no
/// effect.
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
        for (name, value) in message.parameters.passedValues { parameters[name] = value }
        self.parameters = CText(try JSONWriter.encoded(parameters))
        self.payload = try message.rawPayload.map { payload throws(RoutingError) in
            CText(try JSONWriter.encoded(payload))
        }
    }

    /// Passes the message to the host, and waits until the message is completed.
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

    /// A pointer for the host, which retains the message until the host completes the message.
    var retained: OpaquePointer {
        // `end` releases the message, and the host must complete each message once.
        unsafe OpaquePointer(CallbackContext.retaining(self))
    }

    /// A pointer for the host, which is valid as long as this process retains the message.
    var borrowed: OpaquePointer { unsafe OpaquePointer(CallbackContext.borrowing(self)) }

    static func of(_ pointer: OpaquePointer?) -> PendingMessage? {
        // The header requires a pointer that `retained` or `borrowed` has returned and that is still valid.
        unsafe pointer.map { unsafe CallbackContext.object(of: UnsafeMutableRawPointer($0)) }
    }

    /// Completes a message that the C program handles, and releases the program's pointer to the message.
    ///
    /// The result is the number of a `HostStatus`. If the closure throws, the message is not completed.
    static func end(_ pointer: OpaquePointer?, _ body: () throws -> Result<JSONText, any Error>) -> Int32 {
        guard let message = unsafe self.of(pointer) else { return HostStatus.invalidArgument.rawValue }
        do {
            message.end(try body())
            // Balances `retained`, because the host completes a message once.
            unsafe CallbackContext.take(CallbackContext.borrowing(message), as: PendingMessage.self)
            return HostStatus.ok.rawValue
        } catch {
            return HostStatus.invalidArgument.rawValue
        }
    }
}
