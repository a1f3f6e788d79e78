import FoundationEssentials
import Testing
import Waybill
import WaybillTestSupport

@Suite
struct ParameterDecoderTests {
    struct Product: Decodable, Equatable {
        enum Size: String, Decodable { case small, large }
        struct Owner: Decodable, Equatable, Sendable { var name: String }
        struct Code: Decodable, Equatable {
            let text: String
            init(from decoder: any Decoder) throws {
                self.text = try decoder.singleValueContainer().decode(String.self)
            }
        }

        let id: Int
        var price: Double?
        var isNew: Bool?
        var tags: [String]
        var size: Size?
        var since: Date?
        var owner: Owner?
        var code: Code?
    }

    let bus = MessageBus(configuration: .quiet)

    private func product(
        _ url: String,
        _ parameters: [String: any Sendable] = [:]
    ) async throws -> Product {
        try self.bus.register("app://product/:id") { message in try message.decode(Product.self) }
        return try await self.bus.route(url, parameters: parameters)
    }

    @Test
    func `path, query and call are one value`() async throws {
        let product = try await self.product(
            "app://product/7?price=1.5&isNew=1&tags=red&tags=new&size=large&since=2001-01-01T00:00:00Z&code=x1&other=o",
            ["owner": Product.Owner(name: "Lili")]
        )
        #expect(product.id == 7 && product.price == 1.5 && product.isNew == true)
        #expect(product.tags == ["red", "new"] && product.size == .large)
        #expect(product.since == Date(timeIntervalSinceReferenceDate: 0))
        #expect(product.owner == .init(name: "Lili") && product.code?.text == "x1")
    }

    @Test
    func `what is missing is nil or empty, or an error with its name`() async throws {
        let product = try await self.product("app://product/7")
        #expect(product.price == nil && product.tags.isEmpty && product.owner == nil && product.code == nil)
        try self.bus.register("app://order") { message in try message.decode(Product.self) }
        let error = await failure { let _: Product = try await self.bus.route("app://order") }
        #expect(error?.code == .missingParameter)
        #expect(error?.message.contains("`id`") == true)
    }

    @Test(arguments: ["id": "seven", "price": "much", "size": "medium", "since": "today", "owner": "Lili"])
    func `what does not fit is an error with the name and both types`(name: String, text: String) async throws
    {
        try self.bus.register("app://order") { message in try message.decode(Product.self) }
        let error = await failure {
            let _: Product = try await self.bus.route("app://order?id=1", parameters: [name: text])
        }
        #expect(error?.code == .invalidParameter)
        #expect(error?.message.contains("`\(name)`") == true)
        #expect(error?.message.contains(text) == true)
    }

    @Test
    func `a type without properties cannot be read by name`() async throws {
        try self.bus.register("app://number") { message in try message.decode([Int].self) }
        #expect(
            await failure { let _: [Int] = try await self.bus.route("app://number") }?.code
                == .invalidParameter
        )
    }
}
