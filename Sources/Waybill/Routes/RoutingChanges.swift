internal import Synchronization
internal import WaybillEventLoop
public import WaybillRouting

// What of the conventions can change while the program runs.
extension MessageBus {
    /// Registers a scheme, for conventions that refuse URLs of other schemes.
    ///
    /// Registering a pattern registers its scheme. ``unregister(scheme:)`` takes it back: by such conventions
    /// its URLs are `refused` then, and not unrouted. By others it changes nothing.
    ///
    /// - Parameter scheme: the scheme, without a colon, compared as the bus's conventions say.
    /// - Throws: `invalidPattern` for a text that can be no scheme; `shutDown`.
    public func register(scheme: String) throws(RoutingError) {
        guard Address.isScheme(scheme) else { throw .noScheme(scheme) }
        guard self.core.phase.load(ordering: .sequentiallyConsistent) == .open else {
            throw .shutDown(url: scheme)
        }
        self.core.registry.change { table, _ in table.register(scheme: scheme) }
    }

    /// The scheme of URLs and patterns that name none; the configuration's at first.
    ///
    /// To set it is seen by what is routed, sent, published, registered and subscribed afterwards, from any
    /// thread. What is registered keeps its scheme: a pattern without one has the default scheme of the time
    /// when it was registered. It takes as long as to register all routes again. A text that can be no scheme
    /// changes nothing.
    public var defaultScheme: String {
        get { self.core.currentConfiguration.defaultScheme }
        set {
            guard Address.isScheme(newValue) else { return }
            self.core.setDefaultScheme(newValue)
        }
    }

    /// Whether a URL that matches nothing falls back to the handler of its longest registered prefix; the
    /// configuration's choice at first (YFRouter's fallback).
    ///
    /// To set it is seen by what is routed and sent afterwards, from any thread, and takes as long as to
    /// register all routes again. Subscriptions do not fall back.
    public var fallsBack: Bool {
        get {
            let fallsBack = try? self.core.registry.read { table throws(RoutingError) in table.fallsBack }
            return fallsBack ?? false
        }
        set { self.core.registry.change { table, _ in table.fallsBack = newValue } }
    }
}

extension BusCore {
    /// How URLs and patterns are read now.
    var currentConfiguration: MessageBus.Configuration {
        guard let scheme = self.defaultScheme.withLock({ $0 }) else { return self.configuration }
        var configuration = self.configuration
        configuration.defaultScheme = scheme
        return configuration
    }

    fileprivate func setDefaultScheme(_ scheme: String) {
        // Two threads that set it leave one scheme everywhere.
        self.defaultSchemeChange.withLock { _ in
            self.defaultScheme.withLock { $0 = scheme }
            self.registry.change { table, _ in table.defaultScheme = scheme }
            self.registry.intercept { $0.setDefaultScheme(scheme) }
            self.topics.setDefaultScheme(scheme)
            self.exposures.setDefaultScheme(scheme)
            self.shares.setDefaultScheme(scheme)
            self.registry.noteChange()
        }
    }
}
