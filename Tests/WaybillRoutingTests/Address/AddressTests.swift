import Testing
import WaybillRouting

@Suite struct AddressTests {
    @Test func `an address knows its parts`() throws {
        let address = try Address("APP://user/Lili%20S//x?a=1&b&=3&c=%E5%80%BC&a=2#home/receipt?z=%20")
        #expect(address.scheme == "app")
        #expect(address.hasScheme)
        #expect(address.segments == ["user", "Lili S", "x"])
        #expect(address.path == "user/Lili%20S//x")
        #expect(address.queryItems.map(\.name) == ["a", "b", "c", "a"])
        #expect(address.queryItems.map(\.value) == ["1", "", "值", "2"])
        #expect(address.fragment == "home/receipt?z=%20")
    }

    @Test(arguments: ["", "app://a/%FF", "?a=%C3", "a/%E5%80"])
    func `what is no URL is refused`(text: String) throws {
        let error = #expect(throws: RoutingError.self) { try Address(text) }
        #expect(error?.code == .invalidURL)
    }
}
