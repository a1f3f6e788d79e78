internal import Waybill
internal import WaybillCompatibility
internal import WaybillRouting
internal import WaybillTestSupport

extension RecordedForwards {
    /// What an action saw.
    private struct Call: Sendable {
        let name: String
        let message: Message
    }

    /// What a bus with the conventions of the original does with the URL of the case.
    func answer() async throws -> Answer {
        var configuration = MessageBus.Configuration.quiet
        configuration.conventions = .cocRouter
        configuration.defaultScheme = ""
        let bus = MessageBus(configuration: configuration)
        let filtered = Journal<Int>()
        // There the filter is around what is forwarded, and not around navigation.
        if self.op == "forward" {
            bus.use(FilterMiddleware(onFailure: { filtered.add(COCRouterMode($1.code).rawValue) }))
        }
        let calls = Journal<Call>()
        let destinations = self.destinations(calls)
        var routes = self.tables()
        for earlier in self.config.warm ?? [] {
            self.add(self.conventional(earlier.url, earlier.convention), to: &routes)
            try bus.load(routes, destinations: destinations)
            try await bus.route(earlier.url)
        }
        self.add(self.conventional(self.url, self.convention), to: &routes)
        try bus.load(routes, destinations: destinations)
        let earlier = calls.count
        var answer = Answer(complete: await self.completion(on: bus))
        answer.filter = filtered.entries.first
        guard let call = calls.entries.dropFirst(earlier).first else { return answer }
        answer.called = call.name
        answer.arg0 = (call.message.parameters.call["arguments"] as? [String])?.first
        answer.path = call.message.parameters.path
        answer.query = call.message.parameters.query
        answer.params = call.message.parameters.all
        answer.params["arguments"] = nil
        return answer
    }

    /// The mode that whoever forwards the URL is told.
    private func completion(on bus: MessageBus) async -> Int {
        do throws(RoutingError) {
            try await bus.route(self.url, parameters: self.args.map { ["arguments": $0] } ?? [:])
            return COCRouterMode(nil).rawValue
        } catch {
            return COCRouterMode(error.code).rawValue
        }
    }

    /// The tables of the schemes, and the destinations of navigation.
    private func tables() -> RouteConfiguration {
        var configuration = RouteConfiguration()
        for (scheme, table) in (self.config.tables ?? [:]).sorted(by: { $0.key < $1.key }) {
            for (action, patterns) in table.flatMap(\.self) {
                for pattern in patterns.all {
                    let whole = pattern.hasPrefix("\(scheme)://") ? pattern : "\(scheme)://\(pattern)"
                    let target = "\(Self.controller(of: scheme)).\(action)"
                    configuration.entries.append(.init(pattern: whole, target: target))
                }
            }
        }
        for (pattern, destination) in self.config.navigation ?? [:] {
            let scheme = self.url.prefix { $0 != ":" && $0 != "%" }
            let whole = pattern.contains("://") ? pattern : "\(scheme)://\(pattern)"
            configuration.entries.append(.init(pattern: whole, target: destination))
        }
        return configuration
    }

    /// The route that a call by convention makes: the URL's own path is the pattern, if the scheme's controller has the
    /// action.
    private func conventional(_ url: String, _ action: String?) -> RouteConfiguration.Entry? {
        guard let action, let scheme = url.split(separator: ":").first else { return nil }
        let controller = Self.controller(of: String(scheme))
        guard self.config.controllers?[controller]?.contains(action) == true else { return nil }
        var pattern = String(url.prefix { $0 != "?" })
        if !pattern.hasSuffix("/") { pattern += "/" }
        return RouteConfiguration.Entry(pattern: pattern, target: "\(controller).\(action)")
    }

    /// Adds a route, unless its pattern is there: what was routed before is found again.
    private func add(_ entry: RouteConfiguration.Entry?, to configuration: inout RouteConfiguration) {
        guard let entry, !configuration.entries.contains(where: { $0.pattern == entry.pattern }) else {
            return
        }
        configuration.entries.append(entry)
    }

    private func destinations(_ calls: Journal<Call>) -> [String: MessageBus.Destination] {
        var destinations: [String: MessageBus.Destination] = [:]
        for (controller, actions) in self.config.controllers ?? [:] {
            for action in actions {
                let name = "\(controller).\(action)"
                destinations[name] = { message in
                    let arguments = message.parameters.call["arguments"] as? [String] ?? []
                    // An action takes as many arguments as its name has colons; one that takes none leaves one alone.
                    guard arguments.count <= max(1, action.count { $0 == ":" }) else {
                        throw RoutingError(
                            .invalidParameter,
                            message: "`\(action)` does not take \(arguments.count) arguments"
                        )
                    }
                    calls.add(Call(name: name, message: message))
                    return ()
                }
            }
        }
        for destination in (self.config.navigation ?? [:]).values {
            destinations[destination] = { message in
                calls.add(Call(name: destination, message: message))
                return ()
            }
        }
        return destinations
    }

    private static func controller(of scheme: String) -> String {
        scheme.prefix(1).uppercased() + scheme.dropFirst() + "Controller"
    }
}
