import Testing
import Waybill
import WaybillTestSupport

@Suite
struct ModuleErrorTests {
    private struct Hidden: Error {}

    private let bus = MessageBus(configuration: .quiet)

    init() throws {
        try self.bus.register("app://orders/:id") { message -> Int in
            throw OrderError.unknown(id: try message.argument("id"))
        }
        try self.bus.register("app://shop") { _ async throws -> Int in throw OrderError.closed }
        try self.bus.register("app://hidden") { _ -> Int in throw Hidden() }
        let bus = self.bus
        try self.bus.register("app://forwards") { _ async throws -> Int in try await bus.route("app://shop") }
    }

    @Test
    func `a caller can read the error that a module declares, by its type and by its code`() async throws {
        let unknown = await #expect(throws: RoutingError.self) { try await self.bus.route("app://orders/99") }
        #expect(unknown?.code == .handlerFailed && unknown?.message == "there is no order 99")
        #expect(unknown?.declared(as: OrderError.self) == .unknown(id: 99))
        #expect(unknown?.declaredCode == "unknown")
        let closed = await #expect(throws: RoutingError.self) { try await self.bus.route("app://shop") }
        #expect(closed?.declared(as: OrderError.self) == .closed && closed?.declaredCode == "closed")
    }

    @Test
    func `a call that names the error's type throws the error itself`() async throws {
        func order(_ url: String) async throws -> Int {
            try await self.bus.route(url, throwing: OrderError.self)
        }
        await #expect(throws: OrderError.unknown(id: 3)) { try await order("app://orders/3") }
        await #expect(throws: OrderError.closed) { try await order("app://shop") }
        let other = await #expect(throws: RoutingError.self) { try await order("app://nowhere") }
        #expect(other?.code == .noRoute)
    }

    @Test
    func `an undeclared error, or one of another handler, is not the module's error`() async throws {
        for url in ["app://hidden", "app://forwards"] {
            let error = await #expect(throws: RoutingError.self) { try await self.bus.route(url) }
            #expect(error?.code == .handlerFailed && error?.message == "the handler threw an error")
            #expect(error?.declared(as: OrderError.self) == nil && error?.declaredCode == nil)
        }
    }
}
