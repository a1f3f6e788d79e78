internal import CLibUV
internal import Synchronization

/// Some event loops, one per core by default, to spread actors over.
///
/// An actor stays on the loop that it was given. Actors that talk to each other a lot belong on one loop,
/// where a call costs no thread switch; the group is for those that do not.
public final class EventLoopGroup: Sendable {
    /// The loops, in the order in which ``next()`` hands them out.
    public let eventLoops: [EventLoop]

    private let position = Atomic<UInt>(0)

    /// How many loops a group has by default: the cores that this process may use.
    public static var defaultCount: Int { Int(uv_available_parallelism()) }

    /// Creates loops, each with a thread of its own.
    ///
    /// - Parameters:
    ///   - name: A name for threads and logs, followed by the loop's number.
    ///   - count: How many loops, at least one; one per core if nil.
    ///   - configuration: How the loops behave.
    public init(
        name: String = "event-loop",
        count: Int? = nil,
        configuration: EventLoop.Configuration = .init()
    ) {
        let count = count ?? Self.defaultCount
        precondition(count > 0, "a group needs a loop")
        self.eventLoops = (0..<count).map { EventLoop(name: "\(name)-\($0)", configuration: configuration) }
    }

    /// A loop, each time the next one; from any thread.
    public func next() -> EventLoop {
        let position = self.position.wrappingAdd(1, ordering: .relaxed).oldValue
        return self.eventLoops[Int(position % UInt(self.eventLoops.count))]
    }

    /// The loop that the calling thread runs if it is one of the group, so that no thread switch is needed;
    /// else the next.
    public var any: EventLoop {
        self.eventLoops.first(where: \.isInEventLoop) ?? self.next()
    }

    /// Shuts every loop down and waits for that; see ``EventLoop/shutDown()``.
    public func shutDown() async {
        for loop in self.eventLoops { loop.beginShutDown() }
        for loop in self.eventLoops { await loop.shutDown() }
    }
}
