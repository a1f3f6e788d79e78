internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Routes a URL, and lets a closure see and answer the progress replies.
    ///
    /// ```swift
    /// let receipt: Receipt = try await bus.route("app://pay/start") { (update: Progress) in
    ///     update.isAcceptable
    /// }
    /// ```
    ///
    /// The closure runs where the caller is isolated, once for each reply and in their order; its value goes
    /// back to the handler, which waits for it. An error that it throws, or a reply that is no `Update`, is
    /// thrown to the handler, and logged; a handler that asks for no answer does not get it, and it is thrown
    /// here when that handler has replied. What it routes belongs to the message that the handler is
    /// handling, and has its deadline.
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - parameters: values that join those of the URL and win over them; anything `Sendable`, closures
    ///     included.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to stop waiting; inside a handler, the deadline of its message holds too.
    ///   - timeout: how long to wait, by the bus's clock; of deadline and timeout the earlier one holds, and
    ///     a timeout that is not positive is up at once.
    ///   - as: the type of the last reply's value, where it does not follow from the context.
    ///   - onReply: sees a progress reply, and answers it.
    /// - Returns: the value of the last reply.
    /// - Throws: what ``route(_:as:)`` throws.
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
        return try self.value(of: await self.route(request, listening: onReply), as: Value.self, url: url)
    }

    /// Routes a URL, lets a closure see and answer the progress replies, and returns the last reply.
    ///
    /// It is for callers that need no value, or that ask the reply for it; nothing has to be said about the
    /// type of the last reply:
    ///
    /// ```swift
    /// try await bus.route("app://pay/start") { (update: Progress) in show(update) }
    /// ```
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - parameters: values that join those of the URL and win over them; anything `Sendable`, closures
    ///     included.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to stop waiting; inside a handler, the deadline of its message holds too.
    ///   - timeout: how long to wait, by the bus's clock; of deadline and timeout the earlier one holds, and
    ///     a timeout that is not positive is up at once.
    ///   - onReply: sees a progress reply, and answers it.
    /// - Returns: the last reply, with the value and the message's ID.
    /// - Throws: what ``route(_:as:)`` throws.
    @_disfavoredOverload  // or a caller that asks for `any Sendable` would get the reply as one
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
        return try await self.route(request, listening: onReply).reply(from: url)
    }

    private nonisolated(nonsending) func route<Update: Sendable, Answer: Sendable>(
        _ request: Request,
        listening onReply: (Update) async throws -> Answer
    ) async -> DeliveryResult {
        let url = request.url
        return await self.core.route(request) { value in
            if value is ListenerProbe { return () }
            guard let update = converted(value, to: Update.self) else {
                let origin = "the progress reply is"
                throw RoutingError.typeMismatch(url: url, wanted: Update.self, found: value, origin: origin)
            }
            return try await onReply(update)
        }
    }

    /// The replies to a request, one by one: the progress replies and the last reply.
    ///
    /// ```swift
    /// for try await reply in bus.replies(to: "app://pay/start") { show(try reply.value(as: Progress.self)) }
    /// ```
    ///
    /// A handler that waits for an answer gets `()`.
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - parameters: values that join those of the URL and win over them; anything `Sendable`, closures
    ///     included.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to stop waiting for the last reply; inside a handler, the deadline of its message
    ///     holds too.
    ///   - timeout: how long to wait for the last reply once an iteration has begun, by the bus's clock; of
    ///     deadline and timeout the earlier one holds, and a timeout that is not positive is up at once.
    /// - Returns: the replies; each iteration makes a request of its own.
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

extension Message {
    /// Sends the caller a progress reply, and waits until the caller has dealt with it.
    ///
    /// The handler goes no faster than its caller reads: nothing is kept but one reply for each task that
    /// sends them. It runs where the handler is isolated.
    ///
    /// - Parameter value: the reply's value; the caller's closure is called with it.
    /// - Returns: whether the caller has seen it; false if the caller does not listen, or no longer.
    @discardableResult
    public func reply(with value: some Sendable) async -> Bool {
        await EventLoop.yieldIfDue()
        guard let exchange = self.exchange else { return false }
        self.tellObservers(.progress(value))
        return (try? await exchange.offer(value, expectsAnswer: false)) != nil
    }

    /// Sends the caller a progress reply, and waits for the caller's answer.
    ///
    /// ```swift
    /// let accepted = try await message.reply(with: progress, expecting: Bool.self)
    /// ```
    ///
    /// - Parameters:
    ///   - value: the reply's value; the caller's closure is called with it.
    ///   - expecting: the type of the answer: what the caller's closure returns.
    /// - Returns: the answer.
    /// - Throws: `noHandler` if the caller does not listen, `typeMismatch` if it takes or returns another
    ///   type, `refused` with the cause if its closure threw.
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
            throw RoutingError(.refused, url: url, message: "its caller threw an error", cause: error)
        }
        self.tellObservers(.answer(answer))
        guard let value = converted(answer, to: Answer.self) else {
            throw .typeMismatch(url: url, wanted: Answer.self, found: answer, origin: "the caller answered")
        }
        return value
    }

    /// Whether the caller listens to progress replies; it suspends until the caller can say so.
    package func hasListener() async -> Bool {
        guard let exchange = self.exchange else { return false }
        return (try? await exchange.offer(ListenerProbe(), expectsAnswer: false)) != nil
    }

    private func tellObservers(_ event: ProgressEvent) {
        guard let interception = self.extras?.interception else { return }
        for observer in interception.observers { observer(event) }
    }
}

/// A progress reply that callers answer without showing it, if they listen.
struct ListenerProbe: Sendable {}

/// A caller's code for progress replies; it runs where the caller is isolated.
typealias Listener = (any Sendable) async throws -> any Sendable

/// The listener of a caller that wants the last reply only.
package func noListener(_ value: any Sendable) async throws -> any Sendable { throw Exchange.NotListening() }
