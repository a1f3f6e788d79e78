internal import WaybillRouting

/// Who subscribed to what, as it was at one moment.
final class TopicSnapshot: Sendable {
    private let index: TopicIndex
    let generation: Int

    init(_ index: TopicIndex, generation: Int) {
        self.index = index
        self.generation = generation
    }

    /// Reads the index in place.
    func audience(of url: String) throws(RoutingError) -> Audience { try self.index.audience(of: url) }
}
