public import WaybillEventLoop

/// The middlewares of a bus as they were at one moment, chain first; there is at least one.
@usableFromInline
final class Chain: Sendable {
    private let array: FixedArray<Link>

    /// The links, for as long as the chain is held.
    @usableFromInline let links: FixedArray<Link>.Elements

    init?(_ links: [Link]) {
        if links.isEmpty { return nil }
        self.array = FixedArray(links)
        self.links = self.array.elements
    }

    /// The message as it is sent, when all of the chain has seen it.
    func prepare(_ message: Message) -> Message {
        (0..<self.links.count).reduce(message) { message, index in
            self.links[index].surrounds(message)
                ? self.links[index].code.middleware.prepare(message) : message
        }
    }
}
