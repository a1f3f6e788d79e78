internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Connects a scheme for each installed module, named after the module.
    ///
    /// Each scheme is connected to a ``NativeConnector`` whose targets are schemes. For example,
    /// `order://detail?id=7` calls `detail` of `OrderModule` or `OrderController`.
    ///
    /// ```swift
    /// try await bus.install { OrderController() }
    /// try await bus.install { UserController() }
    /// try bus.connectModules()
    /// let order: String = try await bus.route("order://detail?id=7")
    /// ```
    ///
    /// A scheme that already has a connector keeps it. Call this method again when more modules have been
    /// installed.
    ///
    /// - Returns: The registrations of the connectors. The schemes stay connected when the registrations are
    ///   dropped.
    /// - Throws: `shutDown`.
    @discardableResult
    public func connectModules() throws(RoutingError) -> [Registration] {
        let connector = NativeConnector(modulesOf: self, target: .scheme)
        let connected = Set(self.connectedSchemes.map { $0.lowercased() })
        let names = Set(self.routeDescriptions.compactMap(\.module).map { ModuleName($0).schemeKey })
        var registrations: [Registration] = []
        for scheme in names.subtracting(connected).sorted() where Address.isScheme(scheme) {
            registrations.append(try self.connect(scheme, to: connector))
        }
        return registrations
    }
}
