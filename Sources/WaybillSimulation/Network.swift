internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The nodes of a world, and the messages between them.
///
/// The compiler cannot check `Sendable` here. The proof is the one of ``Simulator``: only the thread of the
/// simulation calls the methods.
final class Network: @unchecked Sendable {
    /// A node: a simulated process.
    private final class Node {
        let name: String
        let loopCount: Int
        /// Whether the node does not reach the others.
        let isSeparate: Bool
        var loops: [Int] = []
        var bus: MessageBus?
        var restart: (@Sendable () async throws -> Void)?
        /// The files of the node's durable stores.
        var disk: NodeDisk?
        /// The wait for the node's start code; nil when the code has ended.
        var start: PendingReply?
        /// The number of loops that have ended and that no later start has replaced yet.
        var endedLoops = 0
        /// The requests that other nodes await from this one.
        var requests: [Int: PendingReply] = [:]
        /// The schemes whose routes the bus shares with other nodes.
        var sharedSchemes: Set<String> = []

        init(_ name: String, loopCount: Int, isSeparate: Bool) {
            self.name = name
            self.isSeparate = isSeparate
            self.loopCount = loopCount
        }

        /// Removes the unanswered requests, and returns them in the order of their arrival.
        func takeRequests() -> [PendingReply] {
            defer { self.requests = [:] }
            return self.requests.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private let simulator: Simulator
    private var nodes: [Node] = []
    private var clients: MessageBus?
    /// The buses of crashed nodes, each with its first loop.
    private var crashedBuses: [(bus: MessageBus?, loop: Int)] = []
    private var nextRequest = 0

    init(_ simulator: Simulator) {
        self.simulator = simulator
        simulator.atEnd { [weak self] in
            // The numbers of nodes stay valid, because a program may still ask whether a node runs.
            for node in self?.nodes ?? [] {
                (node.bus, node.restart, node.requests, node.start) = (nil, nil, [:], nil)
                node.disk?.destroy()
            }
            self?.clients = nil
            self?.releaseCrashedBuses()
        }
        self.inject(simulator.faults.disconnection, as: .failure) { network, number, steps in
            network.simulator.plan(afterSteps: steps - 1) { network.disconnect(number) }
        }
        self.inject(simulator.faults.crash, as: .crash) { network, number, steps in
            network.simulator.plan(afterSteps: steps - 1) { network.crash(number) }
        }
        self.inject(simulator.faults.powerLoss, as: .crash) { network, number, steps in
            guard let disk = network.nodes[number].disk, disk.isUsed else {
                // A node without stores loses power in the middle of its work.
                return network.simulator.plan(afterSteps: steps - 1) {
                    network.crash(number, losingPower: true)
                }
            }
            // A store that is idle does not reach the operation at which its power should fail.
            if disk.willLosePower { return network.crash(number, losingPower: true) }
            disk.cutPower(afterOperations: steps)
        }
    }

    /// Lets a fault happen to the running nodes at random times.
    ///
    /// The fault happens some steps later, in the middle of the work that the passage of time has caused.
    private func inject(
        _ rate: Faults.Rate,
        as kind: Decisions.Kind,
        _ fault: @escaping (_ network: Network, _ node: Int, _ steps: Int) -> Void
    ) {
        guard rate.perHour > 0 else { return }
        self.simulator.observeTime { [weak self] nanoseconds in
            guard let self else { return }
            let odds = rate.perHour * Double(nanoseconds) / 3_600e9
            for (number, node) in self.nodes.enumerated() where node.bus != nil {
                let steps = self.simulator.choose(kind, below: 64, odds: min(odds, 1))
                if steps > 0 { fault(self, number, steps) }
            }
        }
    }

    /// Adds a node that does not run, and returns its number.
    func addNode(_ name: String, eventLoops: Int, isSeparate: Bool) -> Int {
        let number = self.nodes.count
        let node = Node(name, loopCount: max(1, eventLoops), isSeparate: isSeparate)
        self.nodes.append(node)
        node.disk = NodeDisk(self.simulator) { [weak self, simulator] in
            let loop = simulator.addLoop("\(name) store")
            self?.nodes[number].loops.append(loop)
            return loop
        } onPowerLoss: { [weak self] in
            self?.crash(number, losingPower: true)
        }
        return number
    }

    func setRestart(of number: Int, _ restart: @escaping @Sendable () async throws -> Void) {
        self.nodes[number].restart = restart
    }

    /// Whether a node runs, and its start code has ended.
    func isRunning(_ number: Int) -> Bool {
        self.nodes[number].bus != nil && self.nodes[number].start == nil
    }

    /// Returns the bus of the clients, which is on the world's own loop.
    func clientBus() throws -> MessageBus {
        if let clients { return clients }
        let bus = MessageBus(eventLoop: self.simulator.eventLoop(0))
        _ = try bus.join(NodeConnector(network: self, node: nil), onChange: {})
        self.simulator.record(bus, of: "clients")
        self.clients = bus
        return bus
    }

    /// Starts a node with new loops and a new bus, and runs its start code as a task of the node.
    ///
    /// If the node crashes meanwhile, the code ends with it, and runs again later.
    nonisolated(nonsending) func start(
        _ number: Int,
        _ startUp: @escaping @Sendable (MessageBus) async throws -> Void
    ) async throws {
        while true {
            let bus = try self.makeBus(number)
            let ending = PendingReply()
            self.nodes[number].start = ending
            self.runStartCode(startUp, on: bus, of: number, ending)
            do {
                _ = try await ending.value(isolation: #isolation)
                return
            } catch is NodeHasCrashed {
                try await Task.sleep(for: self.restartDelay())
            }
        }
    }

    private struct NodeHasCrashed: Error {}

    private func runStartCode(
        _ startUp: @escaping @Sendable (MessageBus) async throws -> Void,
        on bus: MessageBus,
        of number: Int,
        _ ending: PendingReply
    ) {
        let node = self.nodes[number]
        guard let loop = node.loops.first, let disk = node.disk else { return }
        Task(executorPreference: self.simulator.executor(of: loop)) {
            do {
                try await disk.holdingStores { try await startUp(bus) }
                self.hasStarted(number)
                ending.resume(with: .success(()))
            } catch {
                // The node crashes after this piece of work, if its disk has lost power.
                if disk.hasPower { ending.resume(with: .failure(error)) }
            }
        }
    }

    private func hasStarted(_ number: Int) {
        let node = self.nodes[number]
        node.start = nil
        self.simulator.replaceEndedLoops(node.endedLoops)
        node.endedLoops = 0
    }

    private func makeBus(_ number: Int) throws -> MessageBus {
        let node = self.nodes[number]
        node.disk?.turnOn()
        let loops = (0..<node.loopCount).map { _ in self.simulator.addLoop(node.name) }
        let bus = MessageBus(eventLoops: loops.map { self.simulator.eventLoop($0) })
        if !node.isSeparate { _ = try bus.join(NodeConnector(network: self, node: number), onChange: {}) }
        bus.use(FaultMiddleware(self.simulator))
        self.simulator.record(bus, of: node.name)
        (node.loops, node.bus, node.sharedSchemes) = (loops, bus, [])
        return bus
    }
}

// Crashes.
extension Network {
    /// Ends a node, fails the requests that it has not answered, and plans its next start.
    ///
    /// If power is lost, writes that were not synchronized may be lost, dropped or torn.
    func crash(_ number: Int, losingPower: Bool = false) {
        let node = self.nodes[number]
        guard let bus = node.bus, let loop = node.loops.first else { return }
        node.bus = nil
        node.disk?.turnOff(losingPower: losingPower)
        for loop in node.loops { self.simulator.endLoop(loop) }
        node.endedLoops += node.loops.count
        node.loops = []
        // The bus ends with its process. Releasing it now would fail its callers in an orderly way.
        self.crashedBuses.append((bus, loop))
        for reply in node.takeRequests() {
            reply.resume(
                with: .failure(RoutingError(.unreachable, message: "the node \(node.name) has crashed"))
            )
        }
        // The code that waits for the start of a node starts it again.
        if let start = node.start.take() { return start.resume(with: .failure(NodeHasCrashed())) }
        let (restart, name) = (node.restart, node.name)
        self.simulator.afterDelay(self.restartDelay()) { [simulator] in
            Task(executorPreference: simulator.executor) {
                do {
                    try await restart?()
                } catch {
                    simulator.fail(.programThrew("the node \(name) could not start again: \(error)"))
                }
            }
        }
    }

    private func releaseCrashedBuses() {
        for index in self.crashedBuses.indices {
            self.simulator.release(onLoop: self.crashedBuses[index].loop) {
                self.crashedBuses[index].bus = nil
            }
        }
        self.crashedBuses = []
    }

    private func restartDelay() -> Duration {
        .milliseconds(100 << self.simulator.choose(.crash, below: 7, odds: 0.9))
    }
}

// Connections that end.
extension Network {
    /// Fails the unanswered requests of a node, and cancels their handlers.
    func disconnect(_ number: Int) {
        let node = self.nodes[number]
        for reply in node.takeRequests() {
            let message = "the connection to the node \(node.name) has ended"
            reply.cancel(with: RoutingError(.unreachable, message: message))
        }
    }
}

// Messages.
extension Network {
    /// A running node that messages of other nodes reach.
    private struct Receiver {
        let number: Int
        let bus: MessageBus
        /// The executor of tasks that handle messages of other nodes, on ``eventLoop``.
        let executor: EventLoopTaskExecutor
        /// The first loop of the bus, on which messages of other nodes arrive.
        var eventLoop: EventLoop { self.bus.eventLoop }
    }

    /// Returns the running nodes that messages of a sender reach.
    private func receivers(of sender: Int?) -> [Receiver] {
        self.nodes.enumerated().compactMap { number, node in
            guard number != sender, !node.isSeparate, let bus = node.bus, let loop = node.loops.first
            else { return nil }
            return Receiver(number: number, bus: bus, executor: self.simulator.executor(of: loop))
        }
    }

    /// Returns the running nodes that have a route for a URL and that messages of a sender reach.
    private func receivers(of sender: Int?, for url: String) -> [Receiver] {
        self.receivers(of: sender).filter { $0.bus.hasOwnRoute(for: url) }
    }

    func canRoute(_ url: String, from sender: Int?) -> Bool { !self.receivers(of: sender, for: url).isEmpty }

    /// Carries a request to a node that has a route for it, and returns the reply.
    nonisolated(nonsending) func route(_ message: Message, from sender: Int?) async throws -> any Sendable {
        let url = message.parameters.url
        let receivers = self.receivers(of: sender, for: url)
        // As in a cluster, a node does not pass the message of another node on to a third node.
        guard !receivers.isEmpty, !message.isFromNode else { throw self.noReceiver(of: url) }
        let receiver = receivers[self.simulator.choose(.receiver, below: receivers.count, odds: 0.5)]
        let request = try self.request(for: message, from: sender, to: receiver)
        let reply = PendingReply()
        self.nextRequest += 1
        let id = self.nextRequest
        self.nodes[receiver.number].requests[id] = reply
        receiver.eventLoop.execute {
            // The task begins in this closure, because messages of one node begin in the order of arrival.
            let task = Task.immediate(executorPreference: receiver.executor) {
                do {
                    let value = try await receiver.bus.route(request).value
                    let text = try Self.encoded(value, as: "the reply", at: url)
                    self.finish(id, at: receiver.number, with: .success(text))
                } catch {
                    self.finish(id, at: receiver.number, with: .failure(error))
                }
            }
            reply.onCancel { task.cancel() }
        }
        if self.simulator.choose(.failure, below: 2, odds: self.simulator.faults.cancellation) == 1 {
            self.simulator.afterDelay(self.cancellationDelay()) { message.endAsCancelled() }
        }
        let value = try await reply.value(isolation: #isolation)
        // If the value was sent or forwarded, this call has no effect.
        message.declineReturn()
        return value
    }

    /// Returns the time after which a caller is cancelled, up to eight seconds.
    private func cancellationDelay() -> Duration {
        .milliseconds((1 << self.simulator.choose(.failure, below: 14, odds: 0.9)) - 1)
    }

    /// Returns the request that a receiver gets for a message of another node.
    ///
    /// A value for a return URL of a third node goes directly to that node, as in a cluster. Any other value
    /// goes back to the sender, whose bus or store sends it.
    ///
    /// - Throws: `notTransferable` if a value cannot be encoded.
    private func request(
        for message: Message,
        from sender: Int?,
        to receiver: Receiver
    ) throws(RoutingError) -> ExternalRequest {
        let bus = self.bus(of: sender)
        let isForwarded =
            message.source == nil
            && message.returnURL.map { url in
                ![bus, receiver.bus].contains { $0?.hasOwnRoute(for: url) ?? false }
            } ?? false
        let url = message.parameters.url
        var values: [String: any Sendable] = [:]
        for (name, value) in message.parameters.passedValues {
            values[name] = try Self.encoded(value, as: "the parameter \(name)", at: url).parameter
        }
        var payload: JSONText?
        if let value = message.rawPayload { payload = try Self.encoded(value, as: "the payload", at: url) }
        if isForwarded { message.forwardReturn() }
        let peer = ExternalRequest.Peer(
            origin: MessageOrigin(transport: "simulation", peer: sender.map { self.nodes[$0].name }),
            audience: .nodes
        ) { [weak self, weak bus] _, value, headers in
            // A node that has crashed does not receive the value. If the value cannot be encoded, the request
            // fails for the same reason.
            guard let bus, bus === self?.bus(of: sender),
                let text = try? Self.encoded(value, as: "the reply", at: url)
            else { return }
            message.with(headers: headers).sendReturn(text)
        }
        self.share(message.address.scheme, of: receiver)
        return ExternalRequest(
            url: message.returnURL == nil ? url : "\(url.prefix { $0 != "#" })#caller://return",
            passed: .make(values),
            headers: message.headers,
            deadline: message.deadline,
            hops: message.hops + 1,
            payload: payload,
            correlationID: message.correlationID,
            returnID: isForwarded ? message.id : nil,
            from: peer
        )
    }

    /// Returns a value as another process receives it.
    private static func encoded(
        _ value: any Sendable,
        as name: String,
        at url: String
    ) throws(RoutingError) -> JSONText {
        do throws(RoutingError) {
            return try JSONText(encoding: value)
        } catch {
            throw error.naming(name, at: url)
        }
    }

    /// Shares the routes of a scheme, which the program of a simulated node need not share.
    private func share(_ scheme: String, of receiver: Receiver) {
        guard self.nodes[receiver.number].sharedSchemes.insert(scheme).inserted else { return }
        _ = try? receiver.bus.share("\(scheme)://**")
    }

    private func bus(of sender: Int?) -> MessageBus? { sender.map { self.nodes[$0].bus } ?? self.clients }

    private func finish(_ id: Int, at node: Int, with result: Result<any Sendable, any Error>) {
        self.nodes[node].requests.removeValue(forKey: id)?.resume(with: result)
    }

    private func noReceiver(of url: String) -> RoutingError {
        let down = self.nodes.filter { $0.bus == nil }.map(\.name)
        if down.isEmpty {
            return RoutingError(
                .noRoute,
                url: url,
                message: "no node of the simulation has a route for \(url)"
            )
        }
        return RoutingError(
            .unreachable,
            url: url,
            message: "no running node has a route for \(url); these are down: \(down.joined(separator: ", "))"
        )
    }

    /// Publishes a message to the subscribers of all other nodes.
    func publish(_ message: Message, from sender: Int?) -> Bool {
        let receivers = self.receivers(of: sender)
        for receiver in receivers {
            receiver.eventLoop.execute {
                Task.immediate(executorPreference: receiver.executor) {
                    _ = try? await receiver.bus.publishFromNode(message)
                }
            }
        }
        return !receivers.isEmpty
    }
}
