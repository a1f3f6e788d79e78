public import Waybill
public import WaybillRouting

extension MessageBus {
    /// Connects one scheme for each installed module.
    ///
    /// The scheme has the name of the module.
    ///
    /// Each scheme is connected to a ``NativeConnector`` that takes the target from the scheme. For example,
    /// `order://detail?id=7` calls `detail` of `OrderModule` or `OrderController`.
    ///
    /// ```swift
    /// try await bus.install { OrderController() }
    /// try await bus.install { UserController() }
    /// try bus.connectModules()
    /// let order: String = try await bus.route("order://detail?id=7")
    /// ```
    ///
    /// A scheme that already has a connector keeps this connector. After you install more modules, call this
    /// method again.
    ///
    /// - Returns: The registrations of the connectors. The schemes stay connected when you drop the
    ///   registrations.
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
