internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

// Requests that arrive as messages.
extension Navigator {
    /// Carries out the request of a message, and returns the value of the reply.
    func handle(_ message: Message, _ factory: DestinationFactory?) async throws -> any Sendable {
        let url = message.address.text
        let life = NavigationLife(message) { [weak self] () async throws(RoutingError) in
            try await self?.takeTurn(url) {}
        }
        if message.parameters.call[Restoration.parameter] is Restoration {
            let request = self.request(message, factory, life)
            guard let factory else { throw Self.noDestination(request) }
            let value = try await self.make(
                request,
                factory: factory,
                source: self.top(of: request.presenter)
            )
            return LivingDestination(value, request: request, factory: factory)
        }
        // An earlier request may change the active presenter, so the turn decides on the presenter.
        let shown = try await self.takeTurn(url) {
            try await self.inspect(self.request(message, factory, life), factory)
        }
        guard shown.isNew, await message.hasListener() else { return shown.value }
        return await life.wait()
    }

    private func request(
        _ message: Message,
        _ factory: DestinationFactory?,
        _ life: NavigationLife
    ) -> NavigationRequest {
        NavigationRequest(
            message,
            transition: message.transition ?? .push,
            destinationName: factory?.name,
            presenter: message.headers[NavigationRequest.presenterHeader] ?? self.state.active,
            life: life
        )
    }

    /// The result of a request.
    struct Shown: Sendable {
        /// The value for the caller, unless the caller waits until the destination is removed.
        let value: any Sendable
        /// Whether the request made or reused a destination that is now shown.
        var isNew = false
    }

    private func inspect(_ request: NavigationRequest, _ factory: DestinationFactory?) async throws -> Shown {
        let rules = self.rules.withLock(\.self)
        if let value = try await rules.handler?(request).value { return Shown(value: value) }
        do {
            let source = self.top(of: request.presenter)
            for inspector in rules.inspectors
            where try await !Self.agrees(inspector, to: request, from: source) {
                throw RoutingError.refused("the inspector \(type(of: inspector)) rejected the request")
            }
            let (change, value) = try await self.perform(request, factory)
            for inspector in rules.inspectors {
                await inspector.didTransition(request, result: .success(change))
            }
            return value
        } catch {
            let error = RoutingError.thrown(error, at: request.url)
            for inspector in rules.inspectors {
                await inspector.didTransition(request, result: .failure(error))
            }
            throw error
        }
    }

    private static func agrees(
        _ inspector: any NavigationInspector,
        to request: NavigationRequest,
        from source: PresentedDestination?
    ) async throws -> Bool {
        do {
            return try await inspector.shouldTransition(request, from: source)
        } catch {
            throw RoutingError.refused(
                "the inspector \(type(of: inspector)) rejected the request",
                cause: error
            )
        }
    }

    private func perform(
        _ request: NavigationRequest,
        _ factory: DestinationFactory?
    ) async throws -> (NavigationChange, Shown) {
        let isBare = factory == nil && request.segments.isEmpty
        if [.back, .remove].contains(request.transition) || isBare && request.transition == .root {
            let (step, place) = try self.step(away: request, isBare: isBare)
            let change = try await self.take(step, as: request.transition, on: place, for: request)
            return (change, Shown(value: self.state))
        }
        guard let factory else { throw Self.noDestination(request) }
        if let reused = try await self.reuse(request, factory) { return reused }
        let draft = Self.draft(request, factory, as: request.transition)
        let source = self.top(of: request.presenter)
        let change = try await self.take(
            .add(draft),
            as: request.transition,
            on: request.presenter,
            for: request
        ) { plan in
            let value = try await self.make(request, factory: factory, source: source)
            return [plan.added[0].id: LivingDestination(value, request: request, factory: factory)]
        }
        return (change, Shown(value: change.added[0].value, isNew: true))
    }

    /// Returns the step for a request that removes destinations, and the name of the presenter.
    private func step(
        away request: NavigationRequest,
        isBare: Bool
    ) throws -> (NavigationMachine.Step, NavigationState.PresenterID) {
        let presenter = request.presenter
        if isBare {
            let stack = self.state.stack(of: presenter)
            switch request.transition {
            case .back: return (.back(try request.parameters.value("count") ?? 1), presenter)
            case .root: return (.backTo(stack.first?.id ?? 0), presenter)
            default: return (.remove(stack.last?.id ?? 0), presenter)
            }
        }
        let everywhere = request.transition == .remove ? self.state.stacks.keys.sorted() : []
        for place in [presenter] + everywhere {
            guard
                let entry = self.state.stack(of: place).last(where: {
                    self.living[$0.id]?.isAt(request) == true
                })
            else { continue }
            return (request.transition == .back ? .backTo(entry.id) : .remove(entry.id), place)
        }
        throw NavigationMachine.Refusal.notThere.error
    }

    /// Brings a destination of the same registration to the front, with the parameters of a request.
    ///
    /// Returns nil if the presenter shows no destination of this registration that can be reused.
    private func reuse(
        _ request: NavigationRequest,
        _ factory: DestinationFactory
    ) async throws -> (NavigationChange, Shown)? {
        let entry = self.state.stack(of: request.presenter).last { entry in
            guard let living = self.living[entry.id] else { return false }
            return living.factory === factory && living.value is any ReusableDestination
        }
        guard let entry, var living = self.living[entry.id],
            let old = living.value as? any ReusableDestination
        else { return nil }
        let before = living.request
        let draft = Self.draft(request, factory, as: request.transition == .root ? .root : entry.transition)
        do {
            let change = try await self.take(
                .reuse(entry.id, draft),
                as: request.transition,
                on: request.presenter,
                for: request
            ) { _ in
                living.value = try await Self.reused(old, for: request)
                living.request = request
                return [entry.id: living]
            }
            return (change, Shown(value: living.value, isNew: true))
        } catch {
            // The step failed, so the destination receives its previous parameters again.
            _ = try? await Self.reused(old, for: before)
            throw error
        }
    }

    private static func reused(
        _ destination: some ReusableDestination,
        for request: NavigationRequest
    ) async throws -> any Sendable { try await destination.reused(for: request) }

    static func draft(
        _ request: NavigationRequest,
        _ factory: DestinationFactory,
        as transition: RouteTransition
    ) -> NavigationMachine.Draft {
        NavigationMachine.Draft(
            url: request.location,
            link: request.message.address.url(with: transition),
            name: factory.name,
            transition: transition
        )
    }

    private static func noDestination(_ request: NavigationRequest) -> RoutingError {
        RoutingError(
            .noRoute,
            url: request.url,
            message: "no destination is registered for this URL: register one with `navigator.register`"
        )
    }

    /// Makes the destination of a request; each inspector may supply another destination.
    private func make(
        _ request: NavigationRequest,
        factory: DestinationFactory,
        source: PresentedDestination?
    ) async throws -> any Sendable {
        try await Self.make(
            request,
            factory: factory,
            source: source,
            inspectors: self.rules.withLock { $0.inspectors[...] }
        )
    }

    private static func make(
        _ request: NavigationRequest,
        factory: DestinationFactory,
        source: PresentedDestination?,
        inspectors: ArraySlice<any NavigationInspector>
    ) async throws -> any Sendable {
        guard let first = inspectors.first else { return try await factory.make(request) }
        // The destination is made once, even if an inspector only looks at it.
        var made: (any Sendable)?
        let makeOnce: nonisolated(nonsending) () async throws -> any Sendable = {
            if let made { return made }
            let rest = inspectors.dropFirst()
            let value = try await Self.make(request, factory: factory, source: source, inspectors: rest)
            made = value
            return value
        }
        if let supplied = try await first.willTransition(request, from: source, make: makeOnce) {
            return supplied
        }
        return try await makeOnce()
    }
}
