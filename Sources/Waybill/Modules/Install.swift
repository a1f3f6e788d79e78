internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Creates a module and registers all of its routes, or none when a route is in conflict.
    ///
    /// ```swift
    /// try await bus.install { UserModule() }
    /// ```
    ///
    /// The module runs on the bus's loop. The bus holds the module until the installation is cancelled.
    ///
    /// - Parameters:
    ///   - name: The name of the module as a provider of its services, which the URLs of the services then
    ///     contain.
    ///   - instances: The number of instances, and the rule that selects the instance for a message.
    ///   - mailbox: The configuration of the module's mailbox; nil for the bus's defaults.
    ///   - fileID: The source file of the installation, for the text of a `conflict` error.
    ///   - line: The source line of the installation, for the text of a `conflict` error.
    ///   - make: A closure that creates one instance, in the caller's isolation.
    /// - Returns: The module, and the registration that uninstalls the module.
    /// - Throws: `conflict`, which names the other route, or the module if it is already installed;
    ///   `invalidPattern`; `shutDown`; or an error that `make` throws.
    @discardableResult
    public nonisolated(nonsending) func install<Module: Waybill.Module>(
        named name: String? = nil,
        instances: ModuleInstances = .single,
        mailbox: MailboxConfiguration? = nil,
        fileID: String = #fileID,
        line: Int = #line,
        _ make: nonisolated(nonsending) () async throws -> Module
    ) async throws -> Installation<Module> {
        await EventLoop.yieldIfDue()
        let eventLoops = instances == .single ? [self.eventLoop] : self.core.eventLoops
        var modules: [Module] = []
        for eventLoop in eventLoops {
            let context = ModuleContext(bus: MessageBus(sharing: self.core), eventLoop: eventLoop)
            modules.append(try await ModuleContext.$installing.bind(context, isolation: #isolation, make))
        }
        return try self.install(
            modules,
            named: name,
            as: instances,
            mailbox: mailbox,
            fileID: fileID,
            line: line
        )
    }

    /// Registers the routes of an existing module, for example of a module that was uninstalled, on its loop.
    @discardableResult
    public func install<Module: Waybill.Module>(
        _ module: Module,
        named name: String? = nil,
        mailbox: MailboxConfiguration? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> Installation<Module> {
        try self.install([module], named: name, as: .single, mailbox: mailbox, fileID: fileID, line: line)
    }

    private func install<Module: Waybill.Module>(
        _ modules: [Module],
        named name: String?,
        as instances: ModuleInstances,
        mailbox: MailboxConfiguration?,
        fileID: String,
        line: Int
    ) throws(RoutingError) -> Installation<Module> {
        // The register of mailboxes holds the modules until a handler is registered.
        var isInstalled = false
        defer { if !isInstalled, mailbox != nil { self.core.releaseModules(modules) } }
        if let mailbox {
            for module in modules { try self.configureMailbox(of: module, mailbox) }
        }
        let services = Module.services
        let routes = Module.routes + services.flatMap { $0.routes($0.url(named: name)) }
        let targets = routes.map { route in
            let members = modules.map { Handler(route.makeCode($0), of: $0, core: self.core) }
            let target: Target =
                members.count == 1
                ? .handler(members[0]) : .instances(InstanceGroup(members, by: instances.choice))
            target.describe(as: .route(route.description))
            return target
        }
        let offers = services.map { $0.offer(name, $0.url(named: name)) }
        var registrations: [Registration] = []
        do throws(RoutingError) {
            registrations = try self.core.register(targets, fileID: fileID, line: line)
            // Services are added last, because they may replace the services of another module. When `offer`
            // fails, it has replaced no service.
            let provided = try self.core.offer(offers, fileID: fileID, line: line)
            self.core.attachments.set(LatestModule(module: modules.last))
            isInstalled = true
            return Installation(modules: modules, registrations: registrations, services: provided)
        } catch {
            for registration in registrations { registration.cancel() }
            let own = error.code == .conflict ? Module.routes : []
            throw services.lazy.compactMap { $0.conflict(with: own, named: name) }.first
                ?? self.core.conflict(error, installing: Module.self)
        }
    }
}

extension BusCore {
    /// Returns the error for a module that cannot be installed, with the place of an earlier installation.
    fileprivate func conflict<Module>(_ error: RoutingError, installing: Module.Type) -> RoutingError {
        guard error.code == .conflict else { return error }
        let name = "\(Module.self)"
        let rival = self.registry.withTable { table in
            table.entries.first { $0.handler.routeDescription?.module == name }?.route
        }
        guard let rival else { return error }
        let message = "`\(name)` is installed already (\(rival.fileID):\(rival.line)): \(error.message)"
        return RoutingError(.conflict, url: error.url, message: message, cause: error.cause)
    }
}

/// The latest installed module of a type, whose state a simulation checks.
private struct LatestModule<Module: Waybill.Module>: Sendable {
    weak var module: Module?
}

extension MessageBus {
    /// Returns the latest installed module of a type, or nil when the module no longer exists.
    package func module<Module: Waybill.Module>(of type: Module.Type) -> Module? {
        self.core.attachments.value(of: LatestModule<Module>.self)?.module
    }
}

/// A module that is installed in a bus, and that this value can uninstall.
public struct Installation<Module: Waybill.Module>: Sendable {
    /// The instances of the module, in the order of the bus's loops.
    public let modules: [Module]

    /// The module, or its first instance.
    public var module: Module { self.modules[0] }

    /// The registrations of the module's routes, in the order of the routes.
    public let registrations: [Registration]

    let services: [Registration]

    /// Unregisters all routes and services of the module, whose callers fail at once with `noHandler`.
    public func cancel() {
        for service in self.services { service.cancel() }
        for registration in self.registrations { registration.cancel() }
    }
}
