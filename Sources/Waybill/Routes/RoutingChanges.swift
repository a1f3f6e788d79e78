internal import Synchronization
internal import WaybillEventLoop
public import WaybillRouting

// The conventions that can change while the program runs.
extension MessageBus {
    /// Registers a scheme, for conventions that refuse URLs of unregistered schemes.
    ///
    /// Registering a pattern also registers its scheme. After ``unregister(scheme:)``, these conventions
    /// report the scheme's URLs as `refused` instead of unrouted. With other conventions, registering a
    /// scheme has no effect.
    ///
    /// - Parameter scheme: The scheme without a colon, which is compared according to the bus's conventions.
    /// - Throws: `invalidPattern` for a text that is not a valid scheme, or `shutDown`.
    public func register(scheme: String) throws(RoutingError) {
        guard Address.isScheme(scheme) else { throw .noScheme(scheme) }
        guard self.core.phase.load(ordering: .sequentiallyConsistent) == .open else {
            throw .shutDown(url: scheme)
        }
        self.core.registry.change { table, _ in table.register(scheme: scheme) }
    }

    /// The scheme of URLs and patterns that name none.
    ///
    /// It is initially the configuration's default scheme.
    ///
    /// A new value applies to messages, registrations and subscriptions that follow, from any thread.
    /// Existing registrations keep their scheme: a pattern without a scheme has the default scheme of the
    /// time when it was registered. Setting this property takes as long as registering all routes again. A
    /// value that is not a valid scheme is ignored.
    public var defaultScheme: String {
        get { self.core.currentConfiguration.defaultScheme }
        set {
            guard Address.isScheme(newValue) else { return }
            self.core.setDefaultScheme(newValue)
        }
    }

    /// Whether a URL that no pattern matches falls back to the handler of its longest registered prefix, as
    /// in YFRouter.
    ///
    /// The initial value is the configuration's. A new value applies to messages that are routed and sent
    /// afterwards, from any thread. Setting this property takes as long as registering all routes again.
    /// Subscriptions do not fall back.
    public var fallsBack: Bool {
        get {
            let fallsBack = try? self.core.registry.withTable { table throws(RoutingError) in
                table.fallsBack
            }
            return fallsBack ?? false
        }
        set { self.core.registry.change { table, _ in table.fallsBack = newValue } }
    }
}

extension BusCore {
    /// The configuration with the current default scheme.
    var currentConfiguration: MessageBus.Configuration {
        guard let scheme = self.defaultScheme.withLock({ $0 }) else { return self.configuration }
        var configuration = self.configuration
        configuration.defaultScheme = scheme
        return configuration
    }

    fileprivate func setDefaultScheme(_ scheme: String) {
        // When two threads set the default scheme, every table must end with the same one.
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
