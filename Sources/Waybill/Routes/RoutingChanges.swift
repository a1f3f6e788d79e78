internal import WaybillEventLoop
public import WaybillRouting

// Routing settings that can change while the program runs.
extension MessageBus {
    /// Registers a scheme, for conventions that refuse URLs of unregistered schemes.
    ///
    /// Registering a pattern also registers its scheme. After ``unregister(scheme:)``, these conventions
    /// report the scheme's URLs with `refused` instead of `noRoute`. With other conventions, registering a
    /// scheme has no effect.
    ///
    /// - Parameter scheme: The scheme without a colon, which is compared according to the bus's conventions.
    /// - Throws: `invalidPattern` for a text that is not a valid scheme, or `shutDown`.
    public func register(scheme: String) throws(RoutingError) {
        guard Address.isScheme(scheme) else { throw .noScheme(scheme) }
        try self.core.checkOpen(for: scheme)
        self.core.registry.change { table, _ in table.register(scheme: scheme) }
    }

    /// The scheme of URLs and patterns that do not name a scheme.
    ///
    /// The initial value is the default scheme of the configuration. A new value applies to later messages,
    /// registrations and subscriptions, from any thread. Existing registrations keep their scheme: a pattern
    /// without a scheme keeps the scheme that was the default when the pattern was registered. Setting this
    /// property takes as long as registering all routes again. The bus ignores a value that is not a valid
    /// scheme.
    public var defaultScheme: String {
        get { self.core.currentConfiguration.defaultScheme }
        set {
            guard Address.isScheme(newValue) else { return }
            self.core.setDefaultScheme(newValue)
        }
    }

    /// Whether the handler of the longest registered prefix receives a URL that no pattern matches, as in the
    /// library YFRouter.
    ///
    /// The initial value is the value in the configuration. A new value applies to later messages, from any
    /// thread. Setting this property takes as long as registering all routes again. The property has no
    /// effect on subscriptions.
    public var fallsBack: Bool {
        get { self.core.registry.withTable { $0.fallsBack } }
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
        // When two threads set the default scheme at the same time, every table must end with the same
        // scheme.
        self.defaultSchemeChange.withLock { _ in
            self.defaultScheme.withLock { $0 = scheme }
            self.registry.change { table, _ in table.defaultScheme = scheme }
            self.registry.changeMiddlewares { $0.setDefaultScheme(scheme) }
            self.topics.setDefaultScheme(scheme)
            self.exposures.change { $0.setDefaultScheme(scheme) }
            self.shares.change { $0.setDefaultScheme(scheme) }
            self.registry.noteChange()
        }
    }
}
