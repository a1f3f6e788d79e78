/// Something whose time is taken.
public struct Subject: Sendable {
    let name: String

    /// Performs a number of iterations and returns their total time in nanoseconds.
    ///
    /// The subject measures the time itself, so that the way to its loop and back does not count.
    let run: @Sendable (_ iterations: Int) async throws -> UInt64

    /// How many iterations a sample has; nil to take as many as fill the time of a sample.
    let iterations: Int?

    /// Makes a subject that takes its own time.
    public init(
        _ name: String,
        iterations: Int? = nil,
        run: @escaping @Sendable (_ iterations: Int) async throws -> UInt64
    ) {
        self.name = name
        self.iterations = iterations
        self.run = run
    }

    /// Makes a subject of code that runs where it is called.
    public static func plain(
        _ name: String,
        iterations: Int? = nil,
        _ body: @escaping @Sendable (_ iterations: Int) throws -> Void
    ) -> Self {
        Self(name, iterations: iterations) { count in
            let start = MonotonicTime.now
            try body(count)
            return MonotonicTime.now - start
        }
    }
}
