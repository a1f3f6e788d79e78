public import WaybillRouting

extension RouteTable<Int> {
    /// Matches URLs one after the other, each of which has a route with the handler 1.
    ///
    /// The method is inlined, like a match in a program.
    @inlinable
    @inline(__always)
    public func match(_ urls: [String], times count: Int) throws {
        var sum = 0
        var next = 0
        for _ in 0..<count {
            if let match = try self.match(urls[next]) { sum += self[match] ?? 0 }
            next = next + 1 == urls.count ? 0 : next + 1
        }
        precondition(sum == count, "a URL was not matched")
    }
}
