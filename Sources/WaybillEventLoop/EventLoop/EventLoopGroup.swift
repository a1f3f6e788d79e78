internal import CLibUV
internal import Synchronization

/// A group of event loops over which actors are spread; by default it has one loop per core.
///
/// An actor stays on its loop. Put actors that often call each other on one loop, where a call costs no
/// thread switch. Use the group for actors that seldom call each other.
public final class EventLoopGroup: Sendable {
    /// The loops, in the order in which ``next()`` returns them.
    public let eventLoops: [EventLoop]

    private let position = Atomic<UInt>(0)

    /// The default number of loops in a group: the number of cores that this process may use.
    public static var defaultCount: Int { Int(uv_available_parallelism()) }

    /// Creates loops that each run on their own thread.
    ///
    /// - Parameters:
    ///   - name: A name for threads and logs; a hyphen and the loop's number follow it.
    ///   - count: The number of loops, at least one; one per core if nil.
    ///   - configuration: The settings of the loops.
    public init(
        name: String = "event-loop",
        count: Int? = nil,
        configuration: EventLoop.Configuration = .init()
    ) {
        let count = count ?? Self.defaultCount
        precondition(count > 0, "a group must have at least one event loop")
        self.eventLoops = (0..<count).map { EventLoop(name: "\(name)-\($0)", configuration: configuration) }
    }

    /// Returns the next loop in turn; may be called from any thread.
    public func next() -> EventLoop {
        let position = self.position.wrappingAdd(1, ordering: .relaxed).oldValue
        return self.eventLoops[Int(position % UInt(self.eventLoops.count))]
    }

    /// The loop of the calling thread if it belongs to the group, which avoids a thread switch; otherwise the
    /// next loop.
    public var any: EventLoop {
        self.eventLoops.first(where: \.isInEventLoop) ?? self.next()
    }

    /// Shuts down every loop and waits until each has shut down; see ``EventLoop/shutDown()``.
    public func shutDown() async {
        for loop in self.eventLoops { loop.beginShutDown() }
        for loop in self.eventLoops { await loop.shutDown() }
    }
}
