internal import Waybill
internal import WaybillCompatibility
internal import WaybillRouting
internal import WaybillTestSupport

extension RecordedRouter {
    static let ftRouter = Self(
        "ftrouter",
        comparisons: 503,
        expected: FTRouterStage.expected,
        play: { try await FTRouterStage($0).play() }
    )
}

/// A bus with the conventions of FTRouter, its destinations, and the recorded calls.
struct FTRouterStage {
    private let recorded: RecordedCase
    private let bus: MessageBus
    private let conventions: RoutingConventions
    private let calls = Journal<Call>()
    /// A recorded call of a destination or of the uncaught handler.
    private struct Call: Sendable {
        let destination: String?
        let components: FTRouterComponents

        init(_ message: Message, at destination: String?) {
            self.destination = destination
            self.components = FTRouterComponents(message)
        }
    }

    private let registered: [Bool]
    private let hasDefaultScheme: Bool
    private let configuration: RouteConfiguration

    init(_ recorded: RecordedCase) throws {
        var conventions = RoutingConventions.ftRouter
        if recorded.config["hostAsPath"]?.bool == false { conventions.host = .isIgnored }
        var settings = MessageBus.Configuration.quiet(by: conventions)
        settings.defaultScheme = ""
        let bus = MessageBus(configuration: settings)
        let scheme = recorded.config["defaultScheme"]?.string
        if let scheme {
            try bus.register(scheme: scheme)
            bus.defaultScheme = scheme
        }
        // The adaptor of the original receives every URL, with a destination or without.
        let hasAdaptor = recorded.config["noAdaptor"]?.bool != true
        let calls = self.calls
        if hasAdaptor {
            // The reply of a destination is sent to the followed URL as another message.
            bus.setUncaughtHandler { if $0.correlationID == nil { calls.add(Call($0, at: nil)) } }
        }
        var configuration = RouteConfiguration()
        func load(_ pattern: String, _ name: String) -> Bool {
            var next = configuration
            next.entries.append(.init(pattern: pattern, target: name))
            var destinations: [String: MessageBus.Destination] = [:]
            for name in next.entries.map(\.target) where hasAdaptor {
                destinations[name] = { calls.add(Call($0, at: name)) }
            }
            guard (try? bus.load(next, destinations: destinations)) != nil else { return false }
            configuration = next
            return true
        }
        self.registered = (recorded.config["register"]?.array.map(\.strings) ?? []).map { entry in
            load(entry.count > 2 ? Self.with(scheme: entry[2], entry[0]) : entry[0], entry[1])
        }
        for (scheme, tree) in (recorded.config["dictionary"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            let isPath = scheme == "/" || tree.string != nil
            for (path, name) in Self.leaves(of: tree, at: tree.string == nil ? "" : scheme) {
                _ = load(isPath ? path : "\(scheme)://\(path)", name)
            }
        }
        for pattern in recorded.config["unregister"]?.strings ?? [] { bus.unregister(pattern) }
        for scheme in recorded.config["unregisterSchemes"]?.strings ?? [] { bus.unregister(scheme: scheme) }
        self.recorded = recorded
        self.conventions = conventions
        self.bus = bus
        self.hasDefaultScheme = bus.defaultScheme == scheme
        self.configuration = configuration
    }

    /// A dictionary of dictionaries, whose keys are segments and whose leaves are destinations.
    private static func leaves(of tree: JSON, at path: String) -> [(path: String, name: String)] {
        if let name = tree.string { return [(path, name)] }
        return tree.object.sorted { $0.key < $1.key }.flatMap { key, subtree in
            Self.leaves(of: subtree, at: key == "." ? path : path.isEmpty ? key : "\(path)/\(key)")
        }
    }

    private static func with(scheme: String, _ pattern: String) -> String {
        pattern.firstIndex(of: ":").map { scheme + pattern[$0...] } ?? "\(scheme)://\(pattern)"
    }

    func play() async throws -> [String: JSON] {
        let url = self.recorded.url
        var observed: [String: JSON] = [
            "registered": .array(self.registered.map { .bool($0) }),
            "defaultReg": .bool(self.hasDefaultScheme),
            "destinationForPath": JSON(self.registeredName(at: url)),
        ]
        let error = await failure { try await self.bus.route(url, parameters: self.recorded.parameters) }
        if error?.code == .noRoute { _ = await eventually { self.calls.count > 0 } }
        observed["routed"] = .bool(error == nil || error?.code == .noRoute)
        observed["handled"] = .bool(self.calls.count == 1)
        let call = self.calls.entries.first
        observed["matched"] = JSON(call?.destination)
        observed["params"] = .object(
            call?.destination == nil ? [:] : call?.components.values.mapValues { JSON(value: $0) } ?? [:]
        )
        if let call { observed.merge(Self.columns(of: call.components)) { _, new in new } }
        return observed
    }

    /// The parts of a URL as the original names them.
    private static func columns(of components: FTRouterComponents) -> [String: JSON] {
        let transition = components.transition.map { Self.transitions[$0] ?? -1 } ?? 0
        return [
            "scheme": .string(components.scheme), "host": .string(components.host ?? "/"),
            "path": .string(components.path),
            "pathComponents": .array(components.segments.map { .string($0) }),
            "transition": .number(Double(transition)),
            "query": components.query.isEmpty ? .null : JSON(components.query),
            "followedURL": JSON(components.followedURL.map { Self.canonical($0) }),
        ]
    }

    /// The numbers of transitions in the original.
    private static let transitions = ["push": 1, "present": 2, "back": 10, "root": 11]

    /// Returns a URL in the form that Waybill reads in the same way: `ft:order/list` becomes
    /// `ft:///order/list`.
    private static func canonical(_ url: String) -> String {
        guard let address = try? Address(url, conventions: .ftRouter) else { return url }
        return
            "\(address.scheme):\(address.segments.joined(separator: "/"))\(address.query.map { "?\($0)" } ?? "")"
    }

    /// Returns the name of the destination for a text.
    ///
    /// The original looks up the unchanged text: without scheme, host and leading slashes, but with
    /// transition and trailing slash.
    private func registeredName(at url: String) -> String? {
        func key(_ text: String) -> String {
            let scheme = text.prefix { $0 != ":" && $0 != "/" }
            let isURL = text.dropFirst(scheme.count).hasPrefix(":")
            var rest = isURL ? text.dropFirst(scheme.count + 1) : text[...]
            let hasHost = isURL && rest.hasPrefix("//") && !rest.hasPrefix("///")
            rest = rest.drop { $0 == "/" }.prefix { $0 != "?" && $0 != "#" }
            let host = rest.prefix { $0 != "/" }
            let isApart = host == "localhost" || host.contains(".") || self.conventions.host == .isIgnored
            if hasHost, isApart { rest = rest.dropFirst(host.count).drop { $0 == "/" } }
            return "\(isURL ? scheme.lowercased() : self.bus.defaultScheme):\(rest)"
        }
        let patterns = self.bus.routes.map(\.pattern.text).filter { key($0) == key(url) }
        return self.configuration.entries.last { patterns.contains($0.pattern) }?.target
    }

    static func expected(_ recorded: RecordedCase) -> [String: JSON] {
        var columns = recorded.expect
        if let url = columns["followedURL"]?.string { columns["followedURL"] = .string(Self.canonical(url)) }
        return columns
    }
}
