extension LoopCore {
    static var defaultName: String { "event-loop" }

    /// Creates the works of a loop of our own.
    static func make(name: String?, host: Host, configuration: EventLoop.Configuration) -> LoopCore {
        do throws(EventLoopError) {
            return try LoopCore(
                name: name ?? self.defaultName,
                host: host,
                on: UVLoop(),
                configuration: configuration
            )
        } catch {
            // No caller of `EventLoop()` could go on without its loop.
            fatalError("no event loop: \(error)")
        }
    }
}
