import Waybill
import WaybillPerformances
import WaybillTestSupport

/// Performs the recorded cases, and describes the results in the words of the recording.
struct PerformStage: Sendable {
    private let bus = MessageBus(configuration: .quiet)
    private let journal = Journal<String>()
    private let hook = Journal<@Sendable () async -> Void>()
    private let destinations = Journal<Bool>()

    init(mustBeRemovedFirst: Bool) throws {
        let (journal, hook, destinations) = (self.journal, self.hook, self.destinations)
        let act: @Sendable () async -> Void = { if let body = hook.entries.last { await body() } }
        try self.bus.provide(
            (any Player).self,
            by: PlayerRouter(
                mustBeRemovedFirst: mustBeRemovedFirst,
                destination: {
                    journal.add("destinationWithConfiguration")
                    return destinations.entries.last == false ? nil : MoviePlayer()
                },
                preparing: {
                    journal.add("prepareDestination:configuration:")
                    await act()
                },
                checking: { journal.add("didFinishPrepareDestination:configuration:") },
                removing: { await act() }
            )
        )
        self.bus.registerPerformFailed { _ in journal.add("globalErrorHandler") }
    }

    private func performance() throws -> Performance<any Player> {
        let journal = self.journal
        return try self.bus.performance(of: (any Player).self) { configuration in
            journal.add("configuring block")
            configuration.prepare = { _ in journal.add("config.prepareDestination") }
            configuration.succeeded = { _ in journal.add("config.successHandler") }
            configuration.failed = { _ in journal.add("config.errorHandler") }
            configuration.completed = { journal.add("config.completionHandler(\($0 ? "YES" : "NO"))") }
            configuration.stateChanged = { journal.add("state \($0)->\($1)") }
        }
    }

    @discardableResult
    private func perform(_ performance: Performance<any Player>) async throws(RoutingError) -> any Player {
        let journal = self.journal
        return try await performance.perform(
            onSuccess: { _ in journal.add("performerSuccessHandler") },
            onFailure: { _ in journal.add("performerErrorHandler") }
        )
    }

    /// Returns the events from a position on.
    private func outcome(
        after count: Int,
        _ performance: Performance<any Player>?,
        _ error: RoutingError?
    ) -> RecordedPerform.Outcome {
        let events = Array(self.journal.entries.dropFirst(count))
        return .init(events: events, code: error?.code, state: performance?.state)
    }

    func performOnce(hasDestination: Bool) async throws -> RecordedPerform.Outcome {
        self.destinations.add(hasDestination)
        let performance = try self.performance()
        // The recording has no event for the configuration when the router creates no destination.
        let count = hasDestination ? 0 : self.journal.count
        do throws(RoutingError) {
            let player = try await self.perform(performance)
            let outcome = self.outcome(after: count, performance, nil)
            withExtendedLifetime(player) {}
            return outcome
        } catch {
            return self.outcome(after: count, performance, error)
        }
    }

    func removeUnperformed() async throws -> RecordedPerform.Outcome {
        let journal = self.journal
        let performance = try self.performance()
        let count = self.journal.count
        let error = await failure {
            try await performance.remove(onFailure: { _ in journal.add("performerErrorHandler") })
        }
        return self.outcome(after: count, performance, error)
    }

    func performWhileRouting() async throws -> RecordedPerform.Outcome {
        let performance = try self.performance()
        let inner = Journal<RecordedPerform.Outcome>()
        self.hook.add {
            let count = self.journal.count
            let error = await failure { try await self.perform(performance) }
            inner.add(self.outcome(after: count, performance, error))
        }
        try await self.perform(performance)
        return inner.entries[0]
    }

    func performWhileRemoving() async throws -> RecordedPerform.Outcome {
        let performance = try self.performance()
        let player = try await self.perform(performance)
        let inner = Journal<RecordedPerform.Outcome>()
        self.hook.add {
            let count = self.journal.count
            let error = await failure { try await self.perform(performance) }
            inner.add(self.outcome(after: count, performance, error))
        }
        try await performance.remove()
        withExtendedLifetime(player) {}
        return inner.entries[0]
    }

    func performAgain() async throws -> RecordedPerform.Outcome {
        let performance = try self.performance()
        let player = try await self.perform(performance)
        let count = self.journal.count
        var again: (any Player)?
        let error = await failure { again = try await self.perform(performance) }
        var outcome = self.outcome(after: count, performance, error)
        // The recording has one event for the whole second performance.
        if again != nil, outcome.events.last == "performerSuccessHandler" {
            outcome.events = ["performs again"]
        }
        withExtendedLifetime((player, again)) {}
        return outcome
    }

    func loseDestination() async throws -> RecordedPerform.Outcome {
        let performance = try self.performance()
        try await self.perform(performance)
        let count = self.journal.count
        let result = performance.canRemove
        var outcome = self.outcome(after: count, performance, nil)
        outcome.result = result
        return outcome
    }

    func nest(_ depth: Int) async -> RecordedPerform.Outcome {
        let reached = Journal<Int>()
        let innermost = Journal<RecordedPerform.Outcome>()
        self.hook.add {
            reached.add(1)
            guard reached.count < depth else { return }
            guard let performance = try? self.performance() else { return }
            let count = self.journal.count
            let error = await failure { try await performance.perform() }
            if innermost.count == 0 { innermost.add(self.outcome(after: count, performance, error)) }
        }
        _ = await failure { try await self.performance().perform() }
        var outcome = innermost.entries.first ?? .init()
        outcome.fact = reached.count == depth - 1
        return outcome
    }

    /// Performs by a URL.
    ///
    /// The handler of the URL reads its values before the performance, and uses them afterwards.
    func performByURL(_ url: String) async throws -> RecordedPerform.Outcome {
        let (journal, bus) = (self.journal, self.bus)
        let info = Journal<[String: String]>()
        let players = Journal<any Player>()
        try bus.register("\(url.prefix { $0 != "?" })") { [weak bus] message in
            let action = message.parameters["action"] ?? ""
            info.add(["origin-url": message.address.text, "action": action])
            journal.add("processUserInfo:fromURL:")
            let performance = try bus?.performance(of: (any Player).self) { configuration in
                configuration.stateChanged = { journal.add("state \($0)->\($1)") }
                configuration.succeeded = { _ in journal.add("performAction: \(action)") }
            }
            if let player = try await performance?.perform() { players.add(player) }
        }
        try await bus.route(url)
        let events = journal.entries
        let began = events.firstIndex(of: "state unrouted->routing") ?? events.endIndex
        let ended = events.firstIndex(of: "state routing->routed") ?? events.endIndex
        let rules = events.enumerated().compactMap { index, event in
            if event.hasPrefix("processUserInfo") { return index < began ? "\(event) before perform" : event }
            if event.hasPrefix("performAction") { return index > ended ? "\(event) after success" : event }
            return nil
        }
        return .init(events: rules, info: info.entries.first)
    }

    func routeUnknown() async -> RecordedPerform.Outcome {
        let error = await failure { try await self.bus.route("unknown") }
        if error != nil { self.journal.add("completion(NO, nil, toService, error)") }
        return self.outcome(after: 0, nil, error)
    }

    func countHandlers() async throws -> RecordedPerform.Outcome {
        let performance = try self.performance()
        let first = try await self.perform(performance)
        let second = try await performance.perform()
        self.destinations.add(false)
        _ = await failure { try await self.perform(performance) }
        _ = await failure { try await performance.perform() }
        func count(_ event: String) -> Int { self.journal.entries.count { $0 == event } }
        var outcome = RecordedPerform.Outcome()
        outcome.fact =
            count("performerSuccessHandler") == 1 && count("performerErrorHandler") == 1
            && count("config.successHandler") == 2 && count("config.errorHandler") == 2
        withExtendedLifetime((first, second)) {}
        return outcome
    }

    func provideTwice() async -> RecordedPerform.Outcome {
        let error = await failure { try self.bus.provide((any Player).self, by: PlayerRouter()) }
        return .init(fact: error?.code == .conflict)
    }

    func adaptInCircle() async throws -> RecordedPerform.Outcome {
        try self.bus.adapt(Int.self, from: String.self) { $0.count }
        try self.bus.adapt(String.self, from: Int.self) { "\($0)" }
        let error = await failure { try self.bus.service(Int.self) }
        let problems = self.bus.validate().map(\.code)
        return .init(fact: error?.code == .infiniteRecursion && problems == [.infiniteRecursion])
    }
}
