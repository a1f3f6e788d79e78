/// How a bus ended.
public struct DrainSummary: Sendable, Equatable {
    /// Messages that were in flight when the bus stopped taking new ones, and ended by themselves in time.
    public let finished: Int

    /// Messages that did not end in time, and failed with `shutDown`.
    public let abandoned: Int
}
