public import Waybill
internal import WaybillEventLoop

/// A node of a simulated world: a bus with its modules, as in a separate process.
public final class SimulatedNode<Contents: Sendable>: Sendable {
    /// The name of the node.
    public let name: String
    private let network: Network
    private let number: Int
    private let startUp: @Sendable (MessageBus) async throws -> Contents
    private let state = Locked<(bus: MessageBus, contents: Contents)?>(nil)
    /// The modules that checks have asked for, by type.
    ///
    /// While the node is down, its bus has no modules, and checks read the modules from before the crash.
    private let modules = Locked<[ObjectIdentifier: any Module]>([:])

    init(
        _ name: String,
        eventLoops: Int,
        isSeparate: Bool = false,
        in network: Network,
        _ startUp: @escaping @Sendable (MessageBus) async throws -> Contents
    ) {
        self.name = name
        self.network = network
        self.startUp = startUp
        self.number = network.addNode(name, eventLoops: eventLoops, isSeparate: isSeparate)
        // The world holds its nodes until the run ends.
        network.setRestart(of: self.number) { try await self.start() }
    }

    /// Starts the node with a new bus.
    func start() async throws {
        try await self.network.start(self.number) { bus in
            let contents = try await self.startUp(bus)
            _ = self.state.withLock { Swift.exchange(&$0, with: (bus, contents)) }
            _ = self.modules.withLock { Swift.exchange(&$0, with: [:]) }
        }
    }

    /// The bus of the node; after a crash, the bus of its latest start.
    public var bus: MessageBus { self.current.bus }

    /// The value that the code of the node returned when the node started; after a crash, at its latest
    /// start.
    public var contents: Contents { self.current.contents }

    /// Whether the node runs, and its start code has ended.
    public var isRunning: Bool { self.network.isRunning(self.number) }

    /// Whether the node runs, and no message of its bus is on its way.
    public var isQuiet: Bool {
        get async { self.isRunning && self.bus.statistics.inFlight == 0 }
    }

    /// Returns the module of a type that was installed last.
    ///
    /// After the module has been uninstalled, and while the node is down, the method returns the last module
    /// that it has found. Traps if the node has no such module, because the simulation is wrong then.
    public func module<Module: Waybill.Module>(_ type: Module.Type = Module.self) async -> Module {
        if let module = self.bus.module(of: type) {
            _ = self.modules.withLock { $0.updateValue(module, forKey: ObjectIdentifier(type)) }
            return module
        }
        guard let known = self.modules.withLock({ $0[ObjectIdentifier(type)] }) as? Module else {
            preconditionFailure("the node \(self.name) has not installed a module of the type \(type)")
        }
        return known
    }

    /// Ends the connections of other nodes and clients to the node.
    ///
    /// The callers of unanswered requests fail with `unreachable`, and the handlers of these requests are
    /// cancelled. The node continues to run.
    public func disconnect() { self.network.disconnect(self.number) }

    /// Ends the node at once, as `kill -9` ends a process; it starts again up to ten seconds later.
    ///
    /// Files of durable stores keep what was written.
    public func crash() { self.network.crash(self.number) }

    /// Ends the node at once, as a power failure ends a computer; it starts again up to ten seconds later.
    ///
    /// Each write to the file of a durable store that was not synchronized is kept, dropped, or torn.
    public func losePower() { self.network.crash(self.number, losingPower: true) }

    private var current: (bus: MessageBus, contents: Contents) {
        guard let current = self.state.withLock({ $0 }) else {
            preconditionFailure("the node \(self.name) was used before it had started")
        }
        return current
    }
}
