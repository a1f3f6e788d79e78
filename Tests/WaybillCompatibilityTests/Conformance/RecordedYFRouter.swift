internal import Foundation
internal import Waybill
internal import WaybillCompatibility
internal import WaybillRouting
internal import WaybillTestSupport

extension RecordedRouter {
    static let yfRouter = Self(
        "yfrouter",
        comparisons: 328,
        notes: ["unspecified": "says that a hash table decides there; what is decided here is compared"],
        expected: YFRouterStage.expected,
        play: { try await YFRouterStage($0).play() }
    )
}

/// A bus with the conventions of YFRouter, and the recorded calls of its handlers.
struct YFRouterStage {
    /// The keys that the original adds to the parameters.
    private enum Key {
        static let scheme = "YFSchemeKey"
        static let url = "YFURLKey"
        static let path = "YFPathKey"
    }

    /// An object that represents a handler of the original.
    private struct Block: Sendable {}

    private let recorded: RecordedCase
    private let bus: MessageBus
    private let calls = Journal<(pattern: String, message: Message)>()
    private let uncaught = Journal<Message>()
    private let logged = Journal<String>()

    init(_ recorded: RecordedCase) throws {
        self.recorded = recorded
        var configuration = MessageBus.Configuration.logging(to: self.logged)
        configuration.conventions = .yfRouter
        configuration.defaultScheme = recorded.config["defaultScheme"]?.string ?? ""
        self.bus = MessageBus(configuration: configuration)
        self.bus.fallsBack = recorded.config["fallback"]?.bool ?? false
        let (calls, uncaught) = (self.calls, self.uncaught)
        self.bus.setUncaughtHandler { uncaught.add($0) }
        for pattern in recorded.config["register"]?.strings ?? [] {
            if recorded["op"]?.string == "object" {
                try self.bus.register(pattern, object: Block())
            } else {
                try self.bus.register(pattern) { calls.add((pattern, $0)) }
            }
        }
        for pattern in recorded.config["unregister"]?.strings ?? [] { self.bus.unregister(pattern) }
        for scheme in recorded.config["unregisterSchemes"]?.strings ?? [] {
            self.bus.unregister(scheme: scheme)
        }
    }

    func play() async throws -> [String: JSON] {
        let url = self.recorded.url
        if self.recorded["op"]?.string == "object" { return try await self.object(url) }
        var observed = [
            "canRoute": JSON.bool(self.bus.canRoute(url)), "canOpenURL": .bool(self.bus.canOpenURL(url)),
        ]
        let error = await failure { try await self.bus.route(url, parameters: self.recorded.parameters) }
        if error?.code == .noRoute { _ = await eventually { self.uncaught.count > 0 } }
        let call = self.calls.entries.first
        observed["matched"] = JSON(call?.pattern)
        observed["params"] = call.map { Self.values(of: $0.message) } ?? .object([:])
        observed["uncaught"] = self.uncaught.entries.first.map { Self.values(of: $0) } ?? .null
        observed["log"] = .array(self.logged.entries.map { _ in .string("W") })
        observed["exception"] = .bool(error != nil && error?.code != .noRoute)
        return observed
    }

    /// Fetches the object of a URL.
    ///
    /// A middleware records the message.
    private func object(_ url: String) async throws -> [String: JSON] {
        let watcher = Watcher()
        self.bus.use(watcher)
        let value = try await self.bus.route(url).value
        let message = watcher.messages.entries.first
        return [
            "value": .string(value is Block ? "<block>" : "\(value)"),
            "params": message.map { Self.values(of: $0) } ?? .null,
        ]
    }

    private struct Watcher: Middleware {
        let messages = Journal<Message>()

        func handle(
            _ message: Message,
            context: borrowing MiddlewareContext,
            next: borrowing Next
        ) async throws -> any Sendable {
            self.messages.add(message)
            return try await next(message)
        }
    }

    /// Returns the parameters in the form of the original: one dictionary in which the values of the URL come
    /// last.
    private static func values(of message: Message) -> JSON {
        var values = [
            Key.scheme: JSON.string(message.address.scheme), Key.url: .string(message.address.text),
            Key.path: .string(message.address.path),
        ]
        for (name, text) in message.parameters.all { values[name] = .string(text) }
        for (name, value) in message.parameters.call { values[name] = JSON(value: value) }
        return .object(values)
    }

    /// Returns the recorded columns without the layers of percent-encoding that the original adds.
    ///
    /// The original encodes a URL before it parses it, and decodes query values once. An encoded text
    /// therefore keeps one layer in the query, two in the path, and one in the URL.
    static func expected(_ recorded: RecordedCase) -> [String: JSON] {
        var columns = recorded.expect
        for column in ["params", "uncaught"] {
            guard let values = columns[column]?.object else { continue }
            let passed = recorded["params"]?.object ?? [:]
            let query = recorded.url.drop { $0 != "?" }
            columns[column] = .object(
                values.reduce(into: [:]) { result, value in
                    let isFromPath =
                        ![Key.url, Key.path].contains(value.key) && !query.contains("\(value.key)=")
                    result[value.key] =
                        passed[value.key] == nil
                        ? Self.decoded(value.value, times: isFromPath ? 2 : 1) : value.value
                }
            )
        }
        guard recorded["op"]?.string != "object" else { return columns }
        if columns["uncaught"] == nil { columns["uncaught"] = .null }
        if columns["exception"] != nil { columns["uncaught"] = nil }
        columns["exception"] = .bool(columns["exception"] != nil)
        // Only the levels of log entries are compared, such as `W:`.
        columns["log"] = .array((columns["log"]?.strings ?? []).map { .string(String($0.prefix(1))) })
        return columns
    }

    private static func decoded(_ value: JSON, times: Int) -> JSON {
        guard var text = value.string else { return value }
        for _ in 0..<times { text = text.removingPercentEncoding ?? text }
        return .string(text)
    }
}
