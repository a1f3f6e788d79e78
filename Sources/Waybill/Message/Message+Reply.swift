internal import WaybillEventLoop
public import WaybillRouting

extension Message {
    /// Sends the caller a reply before the last one, and waits until the caller has dealt with it.
    ///
    /// The handler goes no faster than its caller reads: nothing is kept but one reply for each task that sends them. It
    /// runs where the handler is isolated.
    ///
    /// - Parameter value: what to tell; the caller's closure is called with it.
    /// - Returns: whether the caller heard it; false if it does not listen, or no longer.
    @discardableResult
    public func reply(with value: some Sendable) async -> Bool {
        await EventLoop.yieldIfDue()
        guard let exchange = self.extras?.exchange else { return false }
        self.tellObservers(value)
        return (try? await exchange.offer(value, expectsAnswer: false)) != nil
    }

    /// Sends the caller a reply before the last one, and waits for the caller's answer.
    ///
    /// ```swift
    /// let accepted = try await message.reply(with: progress, expecting: Bool.self)
    /// ```
    ///
    /// - Parameters:
    ///   - value: what to tell; the caller's closure is called with it.
    ///   - expecting: the type of the answer: what the caller's closure returns.
    /// - Returns: the answer.
    /// - Throws: `noHandler` if the caller does not listen, `typeMismatch` if it takes or returns another type,
    ///   `refused` with the cause if its closure threw.
    public func reply<Answer: Sendable>(
        with value: some Sendable,
        expecting: Answer.Type
    ) async throws(RoutingError) -> Answer {
        await EventLoop.yieldIfDue()
        let url = self.parameters.url
        guard let exchange = self.extras?.exchange else { throw .unheard(url: url) }
        self.tellObservers(value)
        let answer: any Sendable
        do {
            answer = try await exchange.offer(value, expectsAnswer: true)
        } catch let error as RoutingError where error.url == url {
            throw error
        } catch is Exchange.Unheard {
            throw .unheard(url: url)
        } catch {
            throw RoutingError(.refused, url: url, message: "its caller threw an error", cause: error)
        }
        guard let value = converted(answer, to: Answer.self) else {
            throw .typeMismatch(url: url, wanted: Answer.self, found: answer, origin: "the caller answered")
        }
        return value
    }

    private func tellObservers(_ value: any Sendable) {
        guard let passage = self.extras?.passage else { return }
        for observer in passage.observers { observer(value) }
    }
}
