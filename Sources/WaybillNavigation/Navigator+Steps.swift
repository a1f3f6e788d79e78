internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

// Steps, which are changes of the shown destinations. The navigator makes one step at a time.
extension Navigator {
    /// Waits until no other step is in progress, and then runs a closure that makes a step.
    func takeTurn<Result: Sendable>(
        _ url: String,
        _ body: () async throws -> Result
    ) async throws(RoutingError) -> Result {
        if let step, MessageBus.waitingMessages.contains(step) {
            throw RoutingError(
                .refused,
                url: url,
                message:
                    "this request would wait for the navigation step in progress, which awaits this request: use `send`"
            )
        }
        do {
            try await self.turns.begin()
            defer { self.turns.end() }
            return try await self.bus.withMessageID { id in
                self.step = id
                defer { self.step = nil }
                return try await body()
            }
        } catch {
            throw RoutingError.thrown(error, at: url)
        }
    }

    /// Makes a step: plans it, calls the presenter, and notifies the observers.
    ///
    /// `request` is nil for a step without a URL. `make` returns the destinations that are new or have new
    /// parameters, by the IDs of their entries. If the method throws an error, no destination has changed.
    @discardableResult
    func take(
        _ step: NavigationMachine.Step,
        as transition: RouteTransition,
        on name: NavigationState.PresenterID,
        for request: NavigationRequest? = nil,
        _ make: (NavigationMachine.Plan) async throws -> [Int: LivingDestination] = { _ in [:] }
    ) async throws -> NavigationChange {
        let presenter = try self.presenter(name)
        let source = self.top(of: name)
        let plan = try self.begin(step, on: name)
        do {
            let made = try await make(plan)
            let change = self.change(
                plan,
                made: made,
                transition: transition,
                source: source,
                request: request
            )
            self.observers.tellBefore(change)
            try Task.checkCancellation()
            try await Self.present(change, by: presenter)
            self.machine.commit()
            for (id, var destination) in made {
                destination.beginLife { [weak self] () async throws(RoutingError) in
                    try await self?.remove(id)
                }
                self.living[id] = destination
            }
            let gone = plan.removed.compactMap { self.living.removeValue(forKey: $0.id) }
            self.observers.tellAfter(change)
            for destination in gone { destination.endLives() }
            return change
        } catch {
            self.machine.giveUp()
            throw error
        }
    }

    private func begin(
        _ step: NavigationMachine.Step,
        on name: NavigationState.PresenterID
    ) throws(RoutingError) -> NavigationMachine.Plan {
        do throws(NavigationMachine.Refusal) {
            return try self.machine.begin(step, on: name)
        } catch {
            throw error.error
        }
    }

    private static func present(_ change: NavigationChange, by presenter: some Presenter) async throws {
        if change.updated != nil { return try await presenter.update(change) }
        if !change.added.isEmpty { return try await presenter.show(change) }
        if !change.removed.isEmpty { try await presenter.remove(change) }
    }

    private func change(
        _ plan: NavigationMachine.Plan,
        made: [Int: LivingDestination],
        transition: RouteTransition,
        source: PresentedDestination?,
        request: NavigationRequest?
    ) -> NavigationChange {
        NavigationChange(
            presenter: plan.presenter,
            transition: transition,
            stack: self.presented(plan.after, made),
            added: self.presented(plan.added, made),
            removed: self.presented(plan.removed),
            updated: plan.updated.flatMap { self.presented([$0], made).first },
            source: source,
            request: request,
            before: self.presented(plan.before)
        )
    }

    /// Returns the destinations of entries, without the entries that have no destination.
    func presented(
        _ entries: [NavigationEntry],
        _ made: [Int: LivingDestination] = [:]
    ) -> [PresentedDestination] {
        entries.compactMap { entry in
            (made[entry.id] ?? self.living[entry.id]).map {
                PresentedDestination(entry: entry, value: $0.value)
            }
        }
    }

    func top(of presenter: NavigationState.PresenterID) -> PresentedDestination? {
        self.state.top(of: presenter).flatMap { self.presented([$0]).first }
    }

    func presenter(_ name: NavigationState.PresenterID) throws(RoutingError) -> any Presenter {
        guard let presenter = self.presenters[name] else {
            let message = "there is no presenter named `\(name)`; set one with `setPresenter(_:named:)`"
            throw RoutingError(.noHandler, message: message)
        }
        return presenter
    }

    func presenterID(of id: Int) throws(RoutingError) -> NavigationState.PresenterID {
        guard let place = self.machine.place(of: id) else { throw NavigationMachine.Refusal.notThere.error }
        return place.presenter
    }

    /// Makes the destinations of a state, and replaces the shown destinations with them.
    func replace(with state: NavigationState) async throws {
        if state.active != self.state.active { _ = try self.presenter(state.active) }
        var stacks: [(name: NavigationState.PresenterID, made: [LivingDestination])] = []
        for name in Set(state.stacks.keys).union(self.state.stacks.keys).sorted() {
            _ = try self.presenter(name)
            var made: [LivingDestination] = []
            for entry in state.stack(of: name) {
                made.append(
                    try await self.bus.route(
                        entry.link,
                        parameters: [Restoration.parameter: Restoration()],
                        headers: [NavigationRequest.presenterHeader: name]
                    )
                )
            }
            stacks.append((name, made))
        }
        for (name, made) in stacks {
            let drafts = zip(made, state.stack(of: name)).map { made, entry in
                Self.draft(made.request, made.factory, as: entry.transition)
            }
            try await self.take(.replace(drafts), as: .root, on: name) { plan in
                Dictionary(uniqueKeysWithValues: zip(plan.added.map(\.id), made))
            }
        }
        self.machine.activate(state.active)
    }
}
