#if Macros && Foundation

import FoundationEssentials
import Testing
import Waybill

/// The parameters of a `@Route` method: correct, missing and wrong, by URL and by typed URL.
@Suite
struct ArgumentKindTests {
    private let bus = MessageBus()
    private typealias To = Warehouse.urls

    private func opened() async throws -> MessageBus {
        try await self.bus.install { Warehouse() }
        return self.bus
    }

    @Test
    func `a text argument is converted to the type of the parameter`() async throws {
        let bus = try await self.opened()
        #expect(try await bus.route("app://types/int?v=-5") == -5)
        #expect(try await bus.route("app://types/byte?v=255") == UInt8.max)
        #expect(try await bus.route("app://types/double?v=1.5e3") == Double(1500))
        #expect(try await bus.route("app://types/float?v=0.25") == Float(0.25))
        #expect(try await bus.route("app://types/bool?v=true") == true)
        #expect(try await bus.route("app://types/string?v=a%20b") == "a b")
        let url: URL = try await bus.route("app://types/url?v=https%3A%2F%2Fexample.com%2Fa")
        #expect(url.absoluteString == "https://example.com/a")
        let date: Date = try await bus.route("app://types/date?v=2001-01-01T00:00:00Z")
        #expect(date.timeIntervalSinceReferenceDate == 0)
        let uuid: UUID = try await bus.route("app://types/uuid?v=00000000-0000-0000-0000-00000000000A")
        #expect(uuid.uuidString.hasSuffix("0A"))
        #expect(try await bus.route("app://types/size?v=large") == Size.large)
        #expect(try await bus.route("app://types/level?v=2") == Level.high)
        #expect(try await bus.route("app://types/ints?v=1&v=2") == [1, 2])
        #expect(try await bus.route("app://types/sizes?v=small&v=large") == [Size.small, .large])
        #expect(try await bus.route("app://types/path/4/a/b?q=1") == "4 a/b 1")
    }

    @Test(arguments: [
        ("int", "Int"), ("byte", "UInt8"), ("double", "Double"), ("bool", "Bool"),
        ("string", "String"),
        ("url", "URL"), ("date", "Date"), ("uuid", "UUID"), ("size", "Size"), ("level", "Level"),
        ("filter", "Filter"), ("witness", "Witness"), ("filters", "[Filter]"),
    ])
    func `the error of a missing argument has its name and type`(path: String, type: String) async throws {
        let bus = try await self.opened()
        let error = await #expect(throws: RoutingError.self) { try await bus.route("app://types/\(path)") }
        #expect(error?.code == .missingParameter)
        #expect(error?.message == "expected \(type), but there is no parameter `v`")
    }

    @Test(arguments: [
        ("int", "x", "Int"), ("byte", "256", "UInt8"), ("double", "x", "Double"),
        ("bool", "x", "Bool"),
        ("date", "x", "Date"), ("uuid", "x", "UUID"), ("size", "x", "Size"), ("level", "3", "Level"),
        ("ints", "x", "Int"), ("dates", "x", "Date"), ("sizes", "x", "Size"),
        ("intOrNil", "x", "Int"),
        ("dateOrNil", "x", "Date"), ("sizeOrNil", "x", "Size"), ("intOr", "x", "Int"),
        ("intsOr", "x", "Int"), ("optionalIntOr", "x", "Int"),
    ])
    func `the error of a wrong argument has its name, text and type`(
        path: String,
        text: String,
        type: String
    ) async throws {
        let bus = try await self.opened()
        let error = await #expect(throws: RoutingError.self) {
            try await bus.route("app://types/\(path)?v=\(text)")
        }
        #expect(error?.code == .invalidParameter)
        #expect(error?.message == "expected \(type), but `v` is String \"\(text)\"")
    }

    @Test
    func `arguments of Optional parameters can be missing`() async throws {
        let bus = try await self.opened()
        #expect(try await bus.route("app://types/intOrNil") == Int?.none)
        #expect(try await bus.route(To.dateOrNil()) == nil)
        #expect(try await bus.route(To.sizeOrNil(v: nil)) == nil)
        #expect(try await bus.route(To.filterOrNil(v: nil)) == nil)
        #expect(try await bus.route(To.intsOrNil(v: nil)) == nil)
        #expect(try await bus.route(To.sizesOrNil(v: nil)) == nil)
        #expect(try await bus.route(To.witnessOrNil(v: nil)) == false)
        #expect(try await bus.route(To.closureOrNil(v: nil)) == -1)
        #expect(try await bus.route("app://types/ints") == [Int]())
        #expect(try await bus.route(To.intOrNil(v: 3)) == 3)
        #expect(try await bus.route(To.sizeOrNil(v: .large)) == .large)
        #expect(try await bus.route(To.filterOrNil(v: Filter(words: ["a"]))) == Filter(words: ["a"]))
        #expect(try await bus.route(To.witnessOrNil(v: Witness())) == true)
        #expect(try await bus.route(To.closureOrNil(v: { $0 + 1 })) == 22)
    }

    @Test
    func `a default value replaces a missing argument of any form`() async throws {
        let bus = try await self.opened()
        #expect(try await bus.route("app://types/intOr") == 7)
        #expect(try await bus.route("app://types/dateOr") == Date(timeIntervalSinceReferenceDate: 0))
        #expect(try await bus.route("app://types/sizeOr") == Size.small)
        #expect(try await bus.route("app://types/filterOr") == Filter(words: ["standard"]))
        #expect(try await bus.route("app://types/intsOr") == [1, 2])
        #expect(try await bus.route("app://types/sizesOr") == [Size.small, .large])
        #expect(try await bus.route("app://types/optionalIntOr") == Int?(7))
        #expect(try await bus.route("app://types/optionalSizeOr") == Size?.some(.large))
        #expect(try await bus.route("app://types/sumOr") == 3)
        #expect(try await bus.route("app://types/choiceOr") == "yes")
        #expect(try await bus.route("app://types/calledOr") == 4)
        #expect(try await bus.route("app://types/closureOr") == 42)
        #expect(try await bus.route("app://types/anyOr") == "5")
        #expect(try await bus.route("app://types/intOr?v=8") == 8)
        #expect(try await bus.route("app://types/intsOr?v=8") == [8])
        #expect(try await bus.route("app://types/sizeOr?v=large") == Size.large)
        let first: UUID = try await bus.route("app://types/uuidOr")
        #expect(try await bus.route("app://types/uuidOr") != first)
    }

    @Test
    func `the values of a typed URL arrive, as text or with the call`() async throws {
        let bus = try await self.opened()
        let date = Date(timeIntervalSinceReferenceDate: 0.5)
        let uuid = UUID()
        #expect(try await bus.route(To.int(v: 1)) == 1)
        #expect(try await bus.route(To.byte(v: 1)) == 1)
        #expect(try await bus.route(To.double(v: 1.5)) == 1.5)
        #expect(try await bus.route(To.bool(v: false)) == false)
        #expect(try await bus.route(To.string(v: "a&b=ü")) == "a&b=ü")
        #expect(try await bus.route(To.date(v: date)) == date)
        #expect(try await bus.route(To.uuid(v: uuid)) == uuid)
        #expect(try await bus.route(To.size(v: .large)) == .large)
        #expect(try await bus.route(To.level(v: .high)) == .high)
        #expect(try await bus.route(To.ints(v: [3, 4])) == [3, 4])
        #expect(try await bus.route(To.dates(v: [date])) == [date])
        #expect(try await bus.route(To.sizes(v: [.large])) == [.large])
        #expect(try await bus.route(To.filter(v: Filter(words: ["a"]))) == Filter(words: ["a"]))
        #expect(try await bus.route(To.filters(v: [Filter(words: ["a"])])) == [Filter(words: ["a"])])
        #expect(try await bus.route(To.witness(v: Witness())) == ["here"])
        #expect(try await bus.route(To.anyOr(v: "some")) == "some")
        #expect(try await bus.route(To.message(x: 4, rest: "a/b")) == "4 a/b -")
        #expect(To.int(v: 1).parameters.isEmpty)
        #expect(try To.sizes(v: [.small, .large]).text() == "app://types/sizes?v=small&v=large")
    }

    @Test
    func `values that are passed with a plain URL arrive unchanged`() async throws {
        let bus = try await self.opened()
        let words = Filter(words: ["a"])
        #expect(try await bus.route("app://types/filter", parameters: ["v": words]) == words)
        #expect(try await bus.route("app://types/filters", parameters: ["v": [words]]) == [words])
        #expect(try await bus.route("app://types/size", parameters: ["v": Size.large]) == Size.large)
        #expect(try await bus.route("app://types/ints", parameters: ["v": [1, 2]]) == [1, 2])
        #expect(try await bus.route("app://types/witness", parameters: ["v": Witness()]) == ["here"])
        let error = await #expect(throws: RoutingError.self) {
            try await bus.route("app://types/filter", parameters: ["v": 5])
        }
        #expect(error?.code == .invalidParameter)
        #expect(error?.message == "expected Filter, but `v` is Int 5")
    }
}

#endif
