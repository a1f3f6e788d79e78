internal import Waybill
internal import WaybillTestSupport

/// Records its name when a message arrives, and again when its outcome returns.
struct Noting: Middleware {
    let name: String
    let journal: Journal<String>

    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        self.journal.add("\(self.name) \(message.address.segments.joined(separator: "/"))")
        defer { self.journal.add("\(self.name) done") }
        return try await next(message)
    }
}

/// Performs a closure before the next handler, or instead of it.
struct Doing: Middleware {
    enum Answer: Sendable {
        case pass(Message)
        case answer(any Sendable)
    }

    let body: @Sendable (Message) throws -> Answer

    init(_ body: @escaping @Sendable (Message) throws -> Answer) { self.body = body }

    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        switch try self.body(message) {
        case .pass(let message): try await next(message)
        case .answer(let value): value
        }
    }
}

/// Opens a gate and then hangs until another gate opens, whether it is cancelled or not.
struct Hanging: Middleware {
    let started: Gate
    let end: Gate
    let cancelled: Gate

    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        self.started.open()
        await withTaskCancellationHandler {
            await self.end.wait()
        } onCancel: {
            self.cancelled.open()
        }
        try Task.checkCancellation()
        return try await next(message)
    }
}

/// Calls the next handler a number of times, and returns the result of the last call.
struct Repeating: Middleware {
    let times: Int

    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        for _ in 1..<self.times { _ = try? await next(message) }
        return try await next(message)
    }
}
