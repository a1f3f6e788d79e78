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
    func `path, query and passed parameters are decoded as one value`() async throws {
        let product = try await self.product(
            "app://product/7?price=1.5&isNew=1&tags=red&tags=new&size=large&since=2001-01-01T00:00:00Z&code=x1&other=o",
            ["owner": Product.Owner(name: "Lili")]
        )
        #expect(product.id == 7 && product.price == 1.5 && product.isNew == true)
        #expect(product.tags == ["red", "new"] && product.size == .large)
        #expect(product.since == Date(timeIntervalSinceReferenceDate: 0))
        #expect(product.owner == .init(name: "Lili") && product.code?.text == "x1")
    }

    /// A type whose properties have default values.
    ///
    /// The coding key of `isLive` has another name.
    struct Quote: Codable, Equatable, Sendable {
        enum CodingKeys: String, CodingKey {
            case symbol, price, days, tags
            case isLive = "live"
        }

        var symbol = "WB"
        var price = 9.5
        var days: Int? = 3
        var tags = ["a"]
        var isLive = true
    }

    @Test
    func `parameters change a value's properties, and other properties keep their values`() async throws {
        try self.bus.register("app://quote") { message in try message.decode(onto: Quote()) }
        let plain: Quote = try await self.bus.route("app://quote?other=1")
        #expect(plain == Quote())
        let some: Quote = try await self.bus.route("app://quote?symbol=X&live=0&tags=b&tags=c")
        #expect(some == Quote(symbol: "X", tags: ["b", "c"], isLive: false))
        let none: Quote = try await self.bus.route("app://quote", parameters: ["days": nil as Int?])
        #expect(none == Quote(days: nil))
        let error = await failure { try await self.bus.route("app://quote?price=much", as: Quote.self) }
        #expect(error?.code == .invalidParameter && error?.message.contains("`price`") == true)
    }

    @Test
    func `a value can be updated by the parameters of one message after the other`() async throws {
        actor Page {
            private(set) var quote = Quote()
            func open(_ message: Message) throws -> Quote {
                self.quote = try message.decode(onto: self.quote)
                return self.quote
            }
        }
        let page = Page()
        try self.bus.register("app://page") { message in try await page.open(message) }
        _ = try await self.bus.route("app://page?symbol=X", as: Quote.self)
        #expect(try await self.bus.route("app://page?price=1") == Quote(symbol: "X", price: 1))
    }

    @Test
    func `a base class keeps its properties, and a value without members takes no parameters`()
        async throws
    {
        class Base: Codable {
            var width = 1
        }
        final class Derived: Base {
            var height = 2
            private enum CodingKeys: CodingKey { case height }
            override init() { super.init() }
            required init(from decoder: any Decoder) throws {
                self.height = try decoder.container(keyedBy: CodingKeys.self).decode(
                    Int.self,
                    forKey: .height
                )
                try super.init(from: decoder.container(keyedBy: CodingKeys.self).superDecoder())
            }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(self.height, forKey: .height)
                try super.encode(to: container.superEncoder())
            }
        }
        try self.bus.register("app://size") { message -> [Int] in
            let size = try message.decode(onto: Derived())
            return [size.width, size.height]
        }
        #expect(try await self.bus.route("app://size?height=7", as: [Int].self) == [1, 7])
        #expect(try await self.bus.route("app://size?width=7", as: [Int].self) == [7, 2])
        try self.bus.register("app://list") { message in try message.decode(onto: [1, 2]) }
        #expect(await failure { try await self.bus.route("app://list?a=1") }?.code == .invalidParameter)
    }

    @Test
    func `a missing parameter decodes as nil or empty, or fails with its name`() async throws {
        let product = try await self.product("app://product/7")
        #expect(product.price == nil && product.tags.isEmpty && product.owner == nil && product.code == nil)
        try self.bus.register("app://order") { message in try message.decode(Product.self) }
        let error = await failure { let _: Product = try await self.bus.route("app://order") }
        #expect(error?.code == .missingParameter)
        #expect(error?.message.contains("`id`") == true)
    }

    @Test(arguments: ["id": "seven", "price": "much", "size": "medium", "since": "today", "owner": "Lili"])
    func `the error of a parameter of another type has the name and both types`(
        name: String,
        text: String
    ) async throws {
        try self.bus.register("app://order") { message in try message.decode(Product.self) }
        let error = await failure {
            let _: Product = try await self.bus.route("app://order?id=1", parameters: [name: text])
        }
        #expect(error?.code == .invalidParameter)
        #expect(error?.message.contains("`\(name)`") == true)
        #expect(error?.message.contains(text) == true)
    }

    @Test
    func `decoding parameters as a type without properties fails`() async throws {
        try self.bus.register("app://number") { message in try message.decode([Int].self) }
        #expect(
            await failure { let _: [Int] = try await self.bus.route("app://number") }?.code
                == .invalidParameter
        )
    }
}
