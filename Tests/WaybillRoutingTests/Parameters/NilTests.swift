import Testing
import WaybillRouting

@Suite
struct NilTests {
    @Test
    func `an optional without a value that is passed with the call is a missing parameter`() throws {
        let none: Int? = nil
        let some: Int? = 7
        let parameters = try Parameters(
            address: Address("app://a?none=1"),
            call: ["none": none, "some": some]
        )
        #expect(parameters["none"] == nil)
        #expect(try parameters.value("none", as: Int.self) == nil)
        #expect(try parameters.value("some", as: Int.self) == 7)
        #expect(parameters.all("none").isEmpty)
        #expect(parameters.all["none"] == nil)
        #expect(throws: RoutingError.self) { try parameters.require("none", as: String.self) }
    }
}
