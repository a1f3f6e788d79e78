/// URLs that differ in the number that the module reads.
public struct UserURLs: Sendable {
    @usableFromInline let urls: [String]

    /// Creates sixteen URLs.
    ///
    /// - Parameter route: The part before the query.
    public init(_ route: String) { self.urls = (1...16).map { "\(route)?uid=\($0)" } }

    /// Returns the URL of an iteration.
    @inlinable public subscript(iteration: Int) -> String { self.urls[iteration & 15] }

    /// Returns the sum of the answers of a number of iterations.
    public static func sum(_ iterations: Int) -> Int {
        (iterations >> 4) * 136 + (0..<(iterations & 15)).reduce(0) { $0 + $1 + 1 }
    }
}
