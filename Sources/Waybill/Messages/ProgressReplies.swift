internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Routes a URL, and answers each progress reply with the value of a closure.
    ///
    /// ```swift
    /// let receipt: Receipt = try await bus.route("app://pay/start") { (update: Progress) in
    ///     update.isAcceptable
    /// }
    /// ```
    ///
    /// The closure runs in the caller's isolation, once for each progress reply, in order. The handler waits
    /// for the closure's value. Messages that the closure routes have the deadline of the message that the
    /// handler is handling.
    ///
    /// If the closure throws, or if a progress reply is not an `Update`, the bus logs the error. A handler
    /// that expects an answer receives the error; otherwise the caller receives it after the handler has
    /// replied.
    ///
    /// ``route(_:parameters:headers:deadline:timeout:as:)`` describes the parameters, the result and the
    /// errors.
    public nonisolated(nonsending) func route<Update: Sendable, Answer: Sendable, Value: Sendable>(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        timeout: Duration? = nil,
        as: Value.Type = Value.self,
        _ onReply: (Update) async throws -> Answer
    ) async throws(RoutingError) -> Value {
        let request = Request(
            url: url,
            parameters: parameters,
            headers: headers,
            deadline: deadline,
            timeout: timeout,
            by: self.core.time
        )
        return try self.unboxedValue(
            of: await self.routeListening(request, listening: onReply),
            as: Value.self,
            url: url
        )
    }

    /// Routes a URL, answers each progress reply with the value of a closure, and returns the last reply.
    ///
    /// Use this method when you need no value, or read the value from the reply:
    ///
    /// ```swift
    /// try await bus.route("app://pay/start") { (update: Progress) in show(update) }
    /// ```
    ///
    /// ``route(_:parameters:headers:deadline:timeout:)`` describes the parameters, the result and the errors.
    @_disfavoredOverload  // A caller of type `any Sendable` would otherwise receive the reply itself.
    @discardableResult
    public nonisolated(nonsending) func route<Update: Sendable, Answer: Sendable>(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        timeout: Duration? = nil,
        _ onReply: (Update) async throws -> Answer
    ) async throws(RoutingError) -> Reply {
        let request = Request(
            url: url,
            parameters: parameters,
            headers: headers,
            deadline: deadline,
            timeout: timeout,
            by: self.core.time
        )
        return try await self.routeListening(request, listening: onReply).reply(from: url)
    }

    private nonisolated(nonsending) func routeListening<Update: Sendable, Answer: Sendable>(
        _ request: Request,
        listening onReply: (Update) async throws -> Answer
    ) async -> DeliveryResult {
        let url = request.url
        return await self.core.deliverAndWait(request) { value in
            if value is ListenerProbe { return () }
            guard let update = converted(value, to: Update.self) else {
                let origin = "the progress reply is"
                throw RoutingError.typeMismatch(url: url, wanted: Update.self, found: value, origin: origin)
            }
            return try await onReply(update)
        }
    }

    /// Returns the replies to a request as a sequence: the progress replies and the last reply.
    ///
    /// ```swift
    /// for try await reply in bus.replies(to: "app://pay/start") { show(try reply.value(as: Progress.self)) }
    /// ```
    ///
    /// When the loop asks for the next reply, a handler that waits for an answer receives `()`, unless the
    /// loop has called ``Reply/answer(with:)``.
    ///
    /// Each iteration makes its own request, and its timeout begins then.
    /// ``route(_:parameters:headers:deadline:timeout:)`` describes the parameters.
    public func replies(
        to url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        timeout: Duration? = nil
    ) -> Replies {
        Replies(
            core: self.core,
            request: Request(
                url: url,
                parameters: parameters,
                headers: headers,
                deadline: deadline,
                by: self.core.time
            ),
            timeout: timeout
        )
    }
}

/// The progress replies of a handler, with the types of the replies and of the caller's answers.
///
/// A method with `@Route` declares both types, for documents and generated clients, by a parameter of this
/// type:
///
/// ```swift
/// @Route func prepare(drink: String, progress: ProgressReplies<String, Bool>) async throws -> String {
///     guard try await progress.ask("boil water") else { throw RoutingError.refused("the guest has left") }
///     return drink
/// }
/// ```
///
/// If `Answer` is `Void`, the handler sends progress replies with ``send(_:)`` and expects no answers.
public struct ProgressReplies<Update: Sendable, Answer: Sendable>: Sendable {
    private let message: Message

    /// Creates the progress replies to a message.
    ///
    /// `@Route` generates the call. A hand-written route also declares the types with
    /// ``ModuleRoute/reporting(_:)``.
    public init(to message: Message) { self.message = message }

    /// Sends a progress reply to the caller, and waits for the caller's answer.
    ///
    /// - Throws: The errors of ``Message/reply(with:expecting:)``.
    public func ask(_ update: Update) async throws(RoutingError) -> Answer {
        try await self.message.reply(with: update, expecting: Answer.self)
    }
}

extension ProgressReplies where Answer == Void {
    /// Sends a progress reply to the caller like ``Message/reply(with:)``.
    @discardableResult
    public func send(_ update: Update) async -> Bool { await self.message.reply(with: update) }
}

extension Message {
    /// Sends a progress reply to the caller, and waits until the caller has handled it.
    ///
    /// Because the handler waits, each task that sends progress replies keeps at most one of them in memory.
    /// The handler resumes in its own isolation.
    ///
    /// - Parameter value: The value of the progress reply, which the caller's closure receives.
    /// - Returns: Whether the caller has handled the progress reply; false if the caller does not listen or
    ///   no longer listens.
    @discardableResult
    public func reply(with value: some Sendable) async -> Bool {
        await EventLoop.yieldIfDue()
        guard let exchange = self.exchange else { return false }
        self.tellObservers(.progress(value))
        return (try? await exchange.offer(value, expectsAnswer: false)) != nil
    }

    /// Sends a progress reply to the caller, and waits for the caller's answer.
    ///
    /// ```swift
    /// let accepted = try await message.reply(with: progress, expecting: Bool.self)
    /// ```
    ///
    /// - Throws: `noHandler` if the caller does not listen, `typeMismatch` if the caller's closure takes or
    ///   returns another type, or `refused` with the closure's error as its cause if the closure throws.
    public func reply<Answer: Sendable>(
        with value: some Sendable,
        expecting: Answer.Type
    ) async throws(RoutingError) -> Answer {
        await EventLoop.yieldIfDue()
        let url = self.parameters.url
        guard let exchange = self.exchange else { throw .notListening(url: url) }
        self.tellObservers(.progress(value))
        let answer: any Sendable
        do {
            answer = try await exchange.offer(value, expectsAnswer: true)
        } catch let error as RoutingError where error.url == url {
            throw error
        } catch is Exchange.NotListening {
            throw .notListening(url: url)
        } catch {
            let message = "the caller's closure threw an error and did not answer the progress reply"
            throw RoutingError(.refused, url: url, message: message, cause: error)
        }
        self.tellObservers(.answer(answer))
        guard let value = converted(answer, to: Answer.self) else {
            throw .typeMismatch(url: url, wanted: Answer.self, found: answer, origin: "the caller answered")
        }
        return value
    }

    /// Returns whether the caller listens to progress replies, after the caller has answered this question.
    package func hasListener() async -> Bool {
        guard let exchange = self.exchange else { return false }
        return (try? await exchange.offer(ListenerProbe(), expectsAnswer: false)) != nil
    }

    private func tellObservers(_ event: MessageTrace.Event.Kind) {
        for observer in self.extras?.interception?.observers ?? [] { observer(event) }
    }
}

/// A progress reply that a listening caller answers automatically, without a call of the user's closure.
struct ListenerProbe: Sendable {}

/// A caller's closure for progress replies, which runs in the caller's isolation.
typealias Listener = (any Sendable) async throws -> any Sendable

/// The listener of a caller that needs only the last reply.
package func noListener(_ value: any Sendable) async throws -> any Sendable { throw Exchange.NotListening() }
