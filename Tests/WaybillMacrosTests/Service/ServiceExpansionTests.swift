#if Macros

import SwiftDiagnostics
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@Suite
struct ServiceExpansionTests {
    @Test
    func `@Service generates a proxy, and the routes of the provider`() {
        expectExpansion(
            of: #"""
                @Service("app://time/")
                public protocol TimeService: Sendable {
                    /// The time in a city.
                    func time(in city: String, offset: Int?) async throws -> Date
                    @discardableResult
                    func reset() async throws
                }
                """#,
            is: #"""
                public protocol TimeService: Sendable {
                    /// The time in a city.
                    func time(in city: String, offset: Int?) async throws -> Date
                    @discardableResult
                    func reset() async throws
                }

                /// A proxy that calls a ``TimeService`` with messages.
                nonisolated public struct TimeServiceProxy: TimeService {
                    private let waybillMethods: Waybill.ServiceMethods

                    /// Creates a proxy for the provider at an endpoint.
                    public init(_ endpoint: Waybill.ServiceEndpoint) {
                        self.waybillMethods = endpoint.methods("time", "reset")
                    }

                    /// The reply types of the methods.
                    public enum ReplyTypes {
                        #sourceLocation(file: "test.swift", line: 4)
                        public enum time: Waybill.ServiceReply {
                            public typealias Value = Date
                        }
                        #sourceLocation()
                    }

                    public nonisolated(nonsending) func time(in city: String, offset: Int?) async throws -> Date {
                        try await waybillMethods.call(0, Waybill.ServiceArguments().with("city", city).with("offset", offset), reply: TimeServiceProxy.ReplyTypes.time.self)
                    }

                    @discardableResult
                    public nonisolated(nonsending) func reset() async throws {
                        try await waybillMethods.call(1, Waybill.ServiceArguments(), as: Void.self)
                    }
                }

                /// Returns the routes of a module that provides a ``TimeService``. `@Module` calls this method.
                nonisolated public func serviceRoutes<WaybillProvider: Waybill.Module & TimeService>(
                    of service: (any TimeService).Type,
                    in module: WaybillProvider.Type
                ) -> [Waybill.ServiceRoutes<WaybillProvider>] {
                    let routes = Waybill.ServiceRoutes<WaybillProvider>(
                        service,
                        at: "app://time",
                        proxy: {
                            TimeServiceProxy($0)
                        }
                    ) { url in
                        var routes: [Waybill.ModuleRoute<WaybillProvider>] = []
                        routes.append(
                            Waybill.ModuleRoute<WaybillProvider>(
                                url + "/time",
                                action: "time",
                                method: "time(in:offset:)",
                                parameters: [
                                    .init("city", "String", of: String.self),
                                    .init("offset", "Int?", of: Int?.self),
                                ],
                                documentation: "The time in a city.",
                                reply: TimeServiceProxy.ReplyTypes.time.self
                            ) { module, message -> Date in
                                try await module.time(
                                    in: message.argument("city") as String,
                                    offset: message.argument("offset") as Int?
                                )
                            }
                        )
                        routes.append(
                            Waybill.ModuleRoute<WaybillProvider>(
                                url + "/reset",
                                action: "reset",
                                method: "reset()"
                            ) { module, _ -> Void in
                                try await module.reset()
                            }
                        )
                        return routes
                    }
                    return [routes]
                }
                """#
        )
    }

    @Test
    func `the declarations generated for a private protocol are private`() {
        expectExpansion(
            of: #"""
                @Service("app://nothing")
                private protocol Nothing: Sendable {}
                """#,
            is: #"""
                private protocol Nothing: Sendable {}

                /// A proxy that calls a ``Nothing`` with messages.
                nonisolated fileprivate struct NothingProxy: Nothing {
                    private let waybillMethods: Waybill.ServiceMethods

                    /// Creates a proxy for the provider at an endpoint.
                    init(_ endpoint: Waybill.ServiceEndpoint) {
                        self.waybillMethods = endpoint.methods()
                    }
                }

                /// Returns the routes of a module that provides a ``Nothing``. `@Module` calls this method.
                nonisolated fileprivate func serviceRoutes<WaybillProvider: Waybill.Module & Nothing>(
                    of service: (any Nothing).Type,
                    in module: WaybillProvider.Type
                ) -> [Waybill.ServiceRoutes<WaybillProvider>] {
                    let routes = Waybill.ServiceRoutes<WaybillProvider>(
                        service,
                        at: "app://nothing",
                        proxy: {
                            NothingProxy($0)
                        }
                    ) { _ in
                        let routes: [Waybill.ModuleRoute<WaybillProvider>] = []
                        return routes
                    }
                    return [routes]
                }
                """#,
            warning: [
                DiagnosticSpec(
                    message:
                        "make `Nothing` `package` or `public`: otherwise an optimized build replaces every "
                        + "`any Nothing` with the only module that provides it, and calls bypass the bus",
                    line: 2,
                    column: 18,
                    severity: .warning
                )
            ]
        )
    }

    @Test
    func `a module's methods without async are recorded for its services`() {
        expectExpansion(
            of: #"""
                @Module("app://clock")
                actor ClockModule: TimeService {
                    nonisolated let context: ModuleContext
                    func time(in city: String, offset: Int?) -> Date {}
                    func reset() throws {}
                    func wait() async {}
                    func twice() {}
                    func twice() async {}
                    private func hidden() {}
                    static func shared() {}
                    func any<Value>(_ value: Value) {}
                    func some(_ value: some Equatable) {}
                    func sum(_ values: Int...) {}
                    func change(_ value: inout Int) {}
                    func eat(_ value: consuming Token) {}
                    func view(_ bytes: Span<UInt8>) {}
                    func address(_ pointer: UnsafeRawPointer) {}
                    @MainActor func elsewhere() {}
                    @available(*, deprecated) func old() {}
                    func take(_ body: () -> Void) {}
                    func handle(_ message: Message) {}
                    func nameless(_: Int) {}
                }
                """#,
            is: #"""
                actor ClockModule: TimeService {
                    nonisolated let context: ModuleContext
                    func time(in city: String, offset: Int?) -> Date {}
                    func reset() throws {}
                    func wait() async {}
                    func twice() {}
                    func twice() async {}
                    private func hidden() {}
                    static func shared() {}
                    func any<Value>(_ value: Value) {}
                    func some(_ value: some Equatable) {}
                    func sum(_ values: Int...) {}
                    func change(_ value: inout Int) {}
                    func eat(_ value: consuming Token) {}
                    func view(_ bytes: Span<UInt8>) {}
                    func address(_ pointer: UnsafeRawPointer) {}
                    @MainActor func elsewhere() {}
                    @available(*, deprecated) func old() {}
                    func take(_ body: () -> Void) {}
                    func handle(_ message: Message) {}
                    func nameless(_: Int) {}

                    static var url: String {
                        "app://clock"
                    }

                    static var routes: [Waybill.ModuleRoute<ClockModule>] {
                        []
                    }

                    static var services: [Waybill.ServiceRoutes<ClockModule>] {
                        var services: [Waybill.ServiceRoutes<ClockModule>] = []
                        services += serviceRoutes(of: (any TimeService).self, in: ClockModule.self)
                        var methods: [Waybill.ModuleMethod<ClockModule>] = []
                        methods.append(
                            Waybill.ModuleMethod<ClockModule>(
                                "time(in:offset:)",
                                parameters: [
                                    .init("city", "String", of: String.self),
                                    .init("offset", "Int?", of: Int?.self),
                                ]
                            ) { waybillModule, waybillMessage -> Date in
                                try waybillModule.time(
                                    in: waybillMessage.argument("city") as String,
                                    offset: waybillMessage.argument("offset") as Int?
                                )
                            }
                        )
                        methods.append(
                            Waybill.ModuleMethod<ClockModule>(
                                "reset()"
                            ) { waybillModule, _ -> Void in
                                try waybillModule.reset()
                            }
                        )
                        return services.map {
                            $0.calling(methods)
                        }
                    }

                    enum urls {
                    }
                }

                extension ClockModule: Waybill.Module {
                }
                """#
        )
    }

    @Test
    func `a module includes the service routes of each type in its inheritance clause`() {
        expectExpansion(
            of: #"""
                @Module("app://clock")
                actor ClockModule: TimeService, @preconcurrency Alarms, CustomStringConvertible {
                    nonisolated let context: ModuleContext
                }
                """#,
            is: #"""
                actor ClockModule: TimeService, @preconcurrency Alarms, CustomStringConvertible {
                    nonisolated let context: ModuleContext

                    static var url: String {
                        "app://clock"
                    }

                    static var routes: [Waybill.ModuleRoute<ClockModule>] {
                        []
                    }

                    static var services: [Waybill.ServiceRoutes<ClockModule>] {
                        var services: [Waybill.ServiceRoutes<ClockModule>] = []
                        services += serviceRoutes(of: (any TimeService).self, in: ClockModule.self)
                        services += serviceRoutes(of: (any Alarms).self, in: ClockModule.self)
                        services += serviceRoutes(of: (any CustomStringConvertible).self, in: ClockModule.self)
                        return services
                    }

                    enum urls {
                    }
                }

                extension ClockModule: Waybill.Module {
                }
                """#
        )
    }
}

#endif
