import Foundation
import Testing
import Waybill
import WaybillTestSupport

/// Parameters of types that decode from a single value.
@Suite
struct ScalarDecoderTests {
    private struct Price: Decodable, Equatable, Sendable {
        let amount: Double

        init(from decoder: any Decoder) throws {
            self.amount = try decoder.singleValueContainer().decode(Double.self)
            if self.amount < 0 { throw CancellationError() }
        }
    }

    /// A type that wraps another single-value type.
    private struct Fee: Decodable, Equatable, Sendable {
        let price: Price

        init(from decoder: any Decoder) throws {
            self.price = try decoder.singleValueContainer().decode(Price.self)
        }
    }

    private struct Code: Decodable, Equatable, Sendable {
        let text: String

        init(from decoder: any Decoder) throws {
            self.text = try decoder.singleValueContainer().decode(String.self)
        }
    }

    private let bus = MessageBus(configuration: .quiet)

    @Test func `decimal numbers of the query are read as an array`() async throws {
        try self.bus.register("app://sum") { message in
            let prices: [Decimal] = try message.argument("prices")
            return prices.reduce(0, +)
        }
        #expect(try await self.bus.route("app://sum?prices=1.5&prices=2", as: Decimal.self) == 3.5)
        #expect(try await self.bus.route("app://sum?prices=1.5", as: Decimal.self) == 1.5)
        #expect(try await self.bus.route("app://sum", as: Decimal.self) == 0)
        let error = await failure { try await self.bus.route("app://sum?prices=many") }
        #expect(error?.code == .invalidParameter)
    }

    init() throws {
        try self.bus.register("app://price") { message in
            let price: Price = try message.argument("value")
            return price.amount
        }
        try self.bus.register("app://fees") { message in
            let fees: [Fee] = try message.argument("value")
            return fees.map(\.price.amount)
        }
        try self.bus.register("app://code") { message in
            let code: Code? = try message.argument("value")
            return code?.text ?? "none"
        }
        try self.bus.register("app://date") { message in
            let date: Date = try message.argument("value")
            return date.timeIntervalSince1970
        }
        try self.bus.register("app://data/:value") { message in
            let data: Data = try message.argument("value")
            return [UInt8](data)
        }
        try self.bus.register("app://decimal/:value") { message in
            let decimal: Decimal = try message.argument("value")
            return "\(decimal)"
        }
    }

    @Test func `a path can contain bytes as Base64 and the digits of a decimal number`() async throws {
        let bytes = try await self.bus.route("app://data/AP%2F%2BBw%3D%3D", as: [UInt8].self)
        #expect(bytes == [0, 255, 254, 7])
        let longest = "12345678901234567890123456789012345678"
        for digits in ["12345678901234567890.123456789", "-0.10", "7", "0.\(longest)", "1e40"] {
            let read = try await self.bus.route("app://decimal/\(digits)", as: String.self)
            #expect(Decimal(string: read) == Decimal(string: digits))
        }
        // A decimal number of Foundation has 38 digits.
        for url in [
            "app://data/%C3%A4", "app://decimal/12a", "app://decimal/nan", "app://decimal/-",
            "app://decimal/\(longest)9",
        ] {
            let error = await #expect(throws: RoutingError.self) { try await self.bus.route(url) }
            #expect(error?.code == .invalidParameter)
        }
    }

    @Test
    func `an actor's method can take a number, a text or a URL as its parameter`() async throws {
        #expect(try await self.bus.route("app://price", parameters: ["value": 3.5], as: Double.self) == 3.5)
        #expect(try await self.bus.route("app://price", parameters: ["value": 3], as: Double.self) == 3)
        #expect(try await self.bus.route("app://price?value=3.5", as: Double.self) == 3.5)
        let fees: [String: any Sendable] = ["value": [1, 2.5]]
        #expect(try await self.bus.route("app://fees", parameters: fees, as: [Double].self) == [1, 2.5])
        #expect(
            try await self.bus.route("app://code", parameters: ["value": "a b"], as: String.self) == "a b"
        )
        #expect(try await self.bus.route("app://code?value=a%20b", as: String.self) == "a b")
        #expect(try await self.bus.route("app://code", as: String.self) == "none")
    }

    @Test(arguments: [
        "app://price?value=x", "app://price?value=-1", "app://price?value=", "app://date?value=12",
    ])
    func `a text that the parameter's type rejects fails with invalidParameter`(url: String) async {
        #expect(await failure { try await self.bus.route(url) }?.code == .invalidParameter)
    }

    @Test
    func `a value of another kind than the parameter's type is rejected`() async {
        for (url, value) in [("app://price", true), ("app://code", 7), ("app://date", 12.5)]
            as [(String, any Sendable)]
        {
            let error = await failure { try await self.bus.route(url, parameters: ["value": value]) }
            #expect(error?.code == .invalidParameter)
        }
    }

    private enum Grade: Character, Sendable {
        case best = "A"
        case worst = "F"
    }

    private struct Flag: Decodable, Sendable {
        let isRaised: Bool

        init(from decoder: any Decoder) throws {
            self.isRaised = try decoder.singleValueContainer().decode(Bool.self)
        }
    }

    @Test(arguments: ["", "?value=", "?value=AB", "?value=A%CC%81B"])
    func `a text that is not one character fails, and does not end the process`(query: String) async throws {
        try self.bus.register("app://character") { message in
            let value: Character = try message.argument("value")
            return "\(value)"
        }
        try self.bus.register("app://grade") { message in
            let value: Grade = try message.argument("value")
            return value.rawValue
        }
        try self.bus.register("app://required") { message in
            let value: Character = try message.parameters.require("value")
            return value
        }
        for route in ["character", "grade", "required"] {
            let code = await failure { try await self.bus.route("app://\(route)\(query)") }?.code
            #expect(code == (query.isEmpty ? .missingParameter : .invalidParameter))
        }
        #expect(try await self.bus.route("app://character?value=e%CC%81") == "e\u{301}")
        #expect(try await self.bus.route("app://grade?value=F") == Grade.worst.rawValue)
    }

    @Test(arguments: [("1", true), ("TRUE", true), ("0", false), ("false", false)])
    func `a type that decodes a Boolean accepts each text of a Boolean`(
        text: String,
        expected: Bool
    ) async throws {
        try self.bus.register("app://flag") { message in
            let value: Flag = try message.argument("value")
            return value.isRaised
        }
        #expect(try await self.bus.route("app://flag?value=\(text)") == expected)
    }
}
