/// A piece of code whose time is measured.
public struct Subject: Sendable {
    let name: String

    /// Performs a number of iterations and returns their total time in nanoseconds.
    ///
    /// The subject measures the time itself, so that the hops to and from its loop do not count.
    let run: @Sendable (_ iterations: Int) async throws -> UInt64

    /// The number of iterations in a sample, or nil for as many as the duration of a sample allows.
    let iterations: Int?

    /// Creates a subject that measures its own time.
    public init(
        _ name: String,
        iterations: Int? = nil,
        run: @escaping @Sendable (_ iterations: Int) async throws -> UInt64
    ) {
        self.name = name
        self.iterations = iterations
        self.run = run
    }

    /// Creates a subject of code that runs on the caller's thread.
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
