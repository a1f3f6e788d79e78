/// Where the answer to one reply before the last one goes.
struct AnswerSlot: Sendable {
    let exchange: Exchange
    /// Which of the replies it is, from 1.
    let number: Int

    /// Lets the handler go on, if it waits for the answer to this very reply.
    func fill(_ value: any Sendable) -> Bool { self.exchange.answer(.success(value), to: self.number) }
}
