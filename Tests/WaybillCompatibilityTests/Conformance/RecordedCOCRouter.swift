internal import Waybill
internal import WaybillCompatibility
internal import WaybillRouting
internal import WaybillTestSupport

extension RecordedRouter {
    static let cocRouter = Self(
        "cocrouter",
        comparisons: 240,
        expected: COCRouterStage.expected,
        play: { try await COCRouterStage($0).play() }
    )
}

/// A bus with the conventions of COCRouter, its tables and controllers, and the recorded calls.
struct COCRouterStage {
    /// A recorded call of an action.
    private struct Call: Sendable {
        let name: String
        let message: Message
    }

    private let recorded: RecordedCase
    private let bus: MessageBus
    private let calls = Journal<Call>()
    private let matched = Journal<String>()

    init(_ recorded: RecordedCase) {
        self.recorded = recorded
        var configuration = MessageBus.Configuration.quiet(by: .cocRouter)
        configuration.defaultScheme = ""
        self.bus = MessageBus(configuration: configuration)
        self.bus.use(Watcher(matched: self.matched))
    }

    private struct Watcher: Middleware {
        let matched: Journal<String>

        func handle(
            _ message: Message,
            context: borrowing MiddlewareContext,
            next: borrowing Next
        ) async throws -> any Sendable {
            // A pattern whose action does not exist is a route without a handler, so the mode is 402 and not
            // "not matched".
            let value = try await next(message)
            if let pattern = context.pattern { self.matched.add(pattern) }
            return value
        }
    }

    func play() async throws -> [String: JSON] {
        let filtered = Journal<Int>()
        // In COCRouter the filter applies to forwarded URLs, and not to navigation.
        let isForwarded = self.recorded["op"]?.string == "forward"
        let forwarder = COCRouterForwarder(self.bus) { if isForwarded { filtered.add($1.rawValue) } }
        let completed = Journal<Int>()
        let destinations = self.destinations()
        var routes = self.tables()
        for earlier in self.recorded.config["warm"]?.array ?? [] {
            let url = earlier.string ?? earlier["url"]?.string ?? ""
            self.add(self.conventional(url, earlier["convention"]?.string), to: &routes)
            try self.bus.load(routes, destinations: destinations)
            await forwarder.forward(url)
        }
        self.add(self.conventional(self.recorded.url, self.recorded["convention"]?.string), to: &routes)
        try self.bus.load(routes, destinations: destinations)
        let (earlierCalls, earlierMatches) = (self.calls.count, self.matched.count)
        let arguments: [String: any Sendable] = self.recorded["args"].map { ["arguments": $0.strings] } ?? [:]
        await forwarder.forward(self.recorded.url, parameters: arguments) {
            // The filter is called after the completion.
            completed.add(filtered.count == 0 ? $0.mode.rawValue : 0)
        }
        var observed: [String: JSON] = [
            "complete": .array(completed.entries.map { .number(Double($0)) }),
            "filter": filtered.entries.first.map { .number(Double($0)) } ?? .null,
            "matched": JSON(self.matched.entries.dropFirst(earlierMatches).first),
            "params": .object([:]),
        ]
        guard let call = self.calls.entries.dropFirst(earlierCalls).first else { return observed }
        observed["called"] = .string(call.name)
        observed["navTarget"] = .string(call.name)
        observed.merge(Self.context(of: call.message)) { _, new in new }
        return observed
    }

    /// The context that an action of the original receives.
    private static func context(of message: Message) -> [String: JSON] {
        let (address, parameters) = (message.address, message.parameters)
        var all = parameters.all
        all["arguments"] = nil
        return [
            "params": JSON(all), "path": parameters.path.isEmpty ? .null : JSON(parameters.path),
            "query": parameters.query.isEmpty ? .null : JSON(parameters.query),
            "scheme": .string(address.scheme),
            "urlPath": .string("\(address.scheme)://\(address.segments.joined(separator: "/"))/"),
            "arg0": JSON((parameters.call["arguments"] as? [String])?.first),
        ]
    }

    /// The tables of the schemes, and the destinations of navigation.
    private func tables() -> RouteConfiguration {
        var configuration = RouteConfiguration()
        let tables = self.recorded.config["tables"]?.object ?? [:]
        for (scheme, table) in tables.sorted(by: { $0.key < $1.key }) {
            for (action, patterns) in table.array.flatMap(\.object) {
                for pattern in patterns.string.map({ [$0] }) ?? patterns.strings {
                    let whole = pattern.hasPrefix("\(scheme)://") ? pattern : "\(scheme)://\(pattern)"
                    let target = "\(Self.controller(of: scheme)).\(action)"
                    configuration.entries.append(.init(pattern: whole, target: target))
                }
            }
        }
        for (pattern, destination) in self.recorded.config["navigation"]?.object ?? [:] {
            let scheme = self.recorded.url.prefix { $0 != ":" && $0 != "%" }
            let whole = pattern.contains("://") ? pattern : "\(scheme)://\(pattern)"
            configuration.entries.append(.init(pattern: whole, target: destination.string ?? ""))
        }
        return configuration
    }

    private func actions(of controller: String) -> [String] {
        self.recorded.config["controllers"]?[controller]?.strings ?? []
    }

    /// Returns the route that a call by convention creates.
    ///
    /// The path of the URL is the pattern, if the controller of the scheme has the action.
    private func conventional(_ url: String, _ action: String?) -> RouteConfiguration.Entry? {
        guard let action, let scheme = url.split(separator: ":").first else { return nil }
        let controller = Self.controller(of: String(scheme))
        guard self.actions(of: controller).contains(action) else { return nil }
        var pattern = String(url.prefix { $0 != "?" })
        if !pattern.hasSuffix("/") { pattern += "/" }
        return RouteConfiguration.Entry(pattern: pattern, target: "\(controller).\(action)")
    }

    /// Adds a route, unless its pattern already exists.
    private func add(_ entry: RouteConfiguration.Entry?, to configuration: inout RouteConfiguration) {
        guard let entry, !configuration.entries.contains(where: { $0.pattern == entry.pattern }) else {
            return
        }
        configuration.entries.append(entry)
    }

    private func destinations() -> [String: MessageBus.Destination] {
        let calls = self.calls
        var destinations: [String: MessageBus.Destination] = [:]
        for controller in (self.recorded.config["controllers"]?.object ?? [:]).keys {
            for action in self.actions(of: controller) {
                let name = "\(controller).\(action)"
                destinations[name] = { message in
                    let arguments = message.parameters.call["arguments"] as? [String] ?? []
                    // An action has as many parameters as its name has colons. An action without parameters
                    // ignores a single argument.
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
        for name in (self.recorded.config["navigation"]?.object ?? [:]).values.compactMap(\.string) {
            destinations[name] = { message in
                calls.add(Call(name: name, message: message))
                return ()
            }
        }
        return destinations
    }

    private static func controller(of scheme: String) -> String {
        scheme.prefix(1).uppercased() + scheme.dropFirst() + "Controller"
    }

    /// The recorded columns.
    ///
    /// The original never calls the completion for an action without arguments, although its README promises
    /// one completion for each URL. Waybill calls the action, and then the completion with 200.
    static func expected(_ recorded: RecordedCase) -> [String: JSON] {
        var columns = recorded.expect
        let mode = columns["complete"] ?? .null
        columns["complete"] = .array([mode.string == nil ? mode : .number(200)])
        return columns
    }
}
