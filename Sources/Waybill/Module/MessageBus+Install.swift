public import WaybillRouting

extension MessageBus {
    /// Makes a module and registers what it handles: all of it, or, if one of its routes is in conflict, nothing.
    ///
    /// ```swift
    /// try await bus.install { UserModule() }
    /// ```
    ///
    /// The module runs on the bus's loop, and the bus holds it until the installation is cancelled.
    ///
    /// - Parameters:
    ///   - fileID: where it is installed, for the message of a conflict.
    ///   - line: where it is installed, for the message of a conflict.
    ///   - make: makes the module, where the caller is.
    /// - Returns: the module, and what takes it out again.
    /// - Throws: `conflict` naming the rival, `invalidPattern`, `shutDown`, or what `make` throws.
    @discardableResult
    public nonisolated(nonsending) func install<Module: Waybill.Module>(
        fileID: String = #fileID,
        line: Int = #line,
        _ make: nonisolated(nonsending) () async throws -> Module
    ) async throws -> Installation<Module> {
        let context = ModuleContext(bus: MessageBus(sharing: self.core), eventLoop: self.eventLoop)
        let module = try await ModuleContext.$installing.withValue(context) { try await make() }
        return try self.install(module, fileID: fileID, line: line)
    }

    /// Registers what a module handles that is there already, on the loop that it runs on.
    ///
    /// Use it for a module that was not made for this bus, or that is installed again.
    @discardableResult
    public func install<Module: Waybill.Module>(
        _ module: Module,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> Installation<Module> {
        let handlers = Module.routes.map { route in
            let handler = route.makeHandler(module, self.core)
            handler.describe(as: .route(route.description))
            return handler
        }
        return Installation(module: module, registrations: try self.core.register(handlers, fileID, line))
    }
}
