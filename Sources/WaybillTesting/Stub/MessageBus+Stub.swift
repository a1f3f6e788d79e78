public import Waybill
public import WaybillRouting

extension MessageBus {
    /// Registers a stub that replaces a module's handler and answers messages with a sequence of answers.
    ///
    /// ```swift
    /// let user = try bus.stub("app://user/:uid", .value(User(uid: 7, name: "Lili")))
    /// let flaky = try bus.stub("app://rates", .failure(RoutingError.refused("try again")), .value(1.08))
    /// let silent = try bus.stub("app://slow", .never)
    /// ```
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs. If an installed module has registered the pattern, unregister it
    ///     first.
    ///   - answers: The answers to the first message, the second message and so on. The stub repeats the last
    ///     answer. Without answers, the stub replies with `()`.
    ///   - fileID: The file of the registration, for the text of a `conflict` error.
    ///   - line: The line of the registration, for the text of a `conflict` error.
    /// - Returns: The stub. The stub stays registered when this object is released.
    /// - Throws: `invalidPattern`, or `conflict` if another handler is registered for the pattern.
    @discardableResult
    public func stub(
        _ pattern: String,
        _ answers: StubAnswer...,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> Stub {
        let stub = Stub(pattern)
        let registration = try self.register(pattern, fileID: fileID, line: line) {
            message async throws -> any Sendable in
            let place = stub.note(message)
            guard let last = answers.last else { return () }
            switch (place < answers.count ? answers[place] : last).kind {
            case .value(let value): return value
            case .failure(let error): throw error
            case .never:
                try await Self.hang()
                return ()
            }
        }
        stub.bind(registration)
        return stub
    }

    /// Registers a stub that replaces a module's handler and answers messages with a closure.
    ///
    /// ```swift
    /// let stub = try bus.stub("app://user/:uid") { message in
    ///     User(uid: try message.parameters.require("uid"), name: "Lili")
    /// }
    /// ```
    @discardableResult
    public func stub<Value: Sendable>(
        _ pattern: String,
        fileID: String = #fileID,
        line: Int = #line,
        _ body: @escaping @Sendable (Message) async throws -> Value
    ) throws(RoutingError) -> Stub {
        let stub = Stub(pattern)
        let registration = try self.register(pattern, fileID: fileID, line: line) { message async throws in
            _ = stub.note(message)
            return try await body(message)
        }
        stub.bind(registration)
        return stub
    }

    /// Suspends until the task is cancelled.
    private static func hang() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        continuation.finish()
        throw CancellationError()
    }
}
