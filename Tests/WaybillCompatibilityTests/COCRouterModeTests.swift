import Testing
import WaybillCompatibility
import WaybillRouting

@Suite struct COCRouterModeTests {
    @Test(arguments: RoutingError.Code.all)
    func `each error code maps to a failure mode and back`(code: RoutingError.Code) throws {
        let mode = COCRouterMode(code)
        #expect((400...403).contains(mode.rawValue))
        let back = try #require(RoutingError.Code(mode))
        #expect(COCRouterMode(back) == mode)
    }

    @Test(arguments: [
        (RoutingError.Code.invalidURL, 400), (.noRoute, 401), (.noHandler, 402), (.invalidParameter, 403),
        (.missingParameter, 403), (.handlerFailed, 402),
    ])
    func `an error code maps to COCRouter's mode`(code: RoutingError.Code, mode: Int) {
        #expect(COCRouterMode(code).rawValue == mode)
    }

    @Test(arguments: [
        (400, RoutingError.Code.invalidURL), (401, .noRoute), (402, .noHandler), (403, .invalidParameter),
        (0, .handlerFailed), (500, .handlerFailed), (-1, .handlerFailed),
    ])
    func `a mode maps to an error code, and an unknown number to a failure`(
        mode: Int,
        code: RoutingError.Code
    ) {
        #expect(RoutingError.Code(COCRouterMode(rawValue: mode)) == code)
    }

    @Test func `no error has the mode 200`() {
        #expect(RoutingError.Code(.done) == nil)
        #expect(COCRouterMode(nil) == .done)
    }
}
