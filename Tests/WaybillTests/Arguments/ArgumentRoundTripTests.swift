#if Macros && Foundation

import FoundationEssentials
import Testing
import Waybill

private let filter = Filter(words: ["a"])

/// A value that is sent to a route of ``Kinds``.
struct SentValue: Sendable, CustomTestStringConvertible {
    let path: String
    let value: any Sendable
    /// The description of the sent value.
    let shown: String
    let url: TypedURL<String>

    // The attribute prevents an optimization for each type, which would take minutes.
    @_optimize(none)
    init<Value: Sendable>(_ path: String, _ value: Value, _ url: (Value) -> TypedURL<String>) {
        self.path = path
        self.value = value
        self.shown =
            (value as? Date).map { String(reflecting: $0.timeIntervalSinceReferenceDate) }
            ?? String(reflecting: value)
        self.url = url(value)
    }

    var testDescription: String { "\(self.path): \(self.shown)" }
}

extension SentValue {
    private typealias To = Kinds.urls

    static let plain: [Self] = [
        Self("int", -5, To.int(v:)), Self("int", .min, To.int(v:)), Self("byte", 255, To.byte(v:)),
        Self("double", 0.1, To.double(v:)), Self("double", .infinity, To.double(v:)),
        Self("double", -0.0, To.double(v:)), Self("bool", true, To.bool(v:)),
        Self("bool", false, To.bool(v:)),
        Self("string", "", To.string(v:)), Self("string", "nil", To.string(v:)),
        Self("string", "a&b=ü%20+\n/#?", To.string(v:)), Self("suit", .hearts, To.suit(v:)),
        Self("rank", .high, To.rank(v:)), Self("tag", Tag("a b"), To.tag(v:)),
        Self("date", Date(timeIntervalSinceReferenceDate: 0), To.date(v:)),
        Self("date", Date(timeIntervalSinceReferenceDate: 816_948_123.123_456_7), To.date(v:)),
        Self("date", Date(timeIntervalSinceReferenceDate: 816_948_123.123), To.date(v:)),
        Self("date", Date(timeIntervalSinceReferenceDate: -86_400.25), To.date(v:)),
        Self("uuid", UUID(), To.uuid(v:)), Self("filter", filter, To.filter(v:)),
        Self("counts", ["a": 1], To.counts(v:)), Self("anything", 5, To.anything(v:)),
        Self("anything", Int?.none, To.anything(v:)), Self("anything", "text", To.anything(v:)),
        Self("anything", (), To.anything(v:)),
    ]

    static let optional: [Self] = [
        Self("intOrNil", 5, To.intOrNil(v:)), Self("intOrNil", nil, To.intOrNil(v:)),
        Self("stringOrNil", "", To.stringOrNil(v:)), Self("stringOrNil", "nil", To.stringOrNil(v:)),
        Self("stringOrNil", nil, To.stringOrNil(v:)), Self("boolOrNil", false, To.boolOrNil(v:)),
        Self("boolOrNil", nil, To.boolOrNil(v:)), Self("suitOrNil", .clubs, To.suitOrNil(v:)),
        Self("suitOrNil", nil, To.suitOrNil(v:)), Self("tagOrNil", Tag(""), To.tagOrNil(v:)),
        Self("tagOrNil", nil, To.tagOrNil(v:)), Self("filterOrNil", filter, To.filterOrNil(v:)),
        Self("filterOrNil", nil, To.filterOrNil(v:)), Self("anythingOrNil", 5, To.anythingOrNil(v:)),
        Self("anythingOrNil", nil, To.anythingOrNil(v:)),
    ]

    static let arrays: [Self] = [
        Self("ints", [], To.ints(v:)), Self("ints", [1], To.ints(v:)), Self("ints", [2, 1, 2], To.ints(v:)),
        Self("strings", [], To.strings(v:)), Self("strings", [""], To.strings(v:)),
        Self("strings", ["a", "", "[b, c]"], To.strings(v:)), Self("suits", [], To.suits(v:)),
        Self("suits", [.clubs, .hearts], To.suits(v:)), Self("tags", [Tag("a"), Tag("b")], To.tags(v:)),
        Self("filters", [], To.filters(v:)), Self("filters", [filter], To.filters(v:)),
        Self("matrix", [], To.matrix(v:)), Self("matrix", [[]], To.matrix(v:)),
        Self("matrix", [[1], [2, 3]], To.matrix(v:)),
    ]

    static let arraysOfOptionals: [Self] = [
        Self("intsAndNils", [], To.intsAndNils(v:)), Self("intsAndNils", [1, 2], To.intsAndNils(v:)),
        Self("intsAndNils", [1, nil], To.intsAndNils(v:)), Self("intsAndNils", [nil], To.intsAndNils(v:)),
        Self("stringsAndNils", ["x"], To.stringsAndNils(v:)),
        Self("stringsAndNils", ["x", nil], To.stringsAndNils(v:)),
        Self("stringsAndNils", ["nil", nil, ""], To.stringsAndNils(v:)),
        Self("suitsAndNils", [.clubs], To.suitsAndNils(v:)),
        Self("suitsAndNils", [nil, .hearts], To.suitsAndNils(v:)),
        Self("filtersAndNils", [nil, filter], To.filtersAndNils(v:)),
    ]

    static let optionalArrays: [Self] = [
        Self("intsOrNil", nil, To.intsOrNil(v:)), Self("intsOrNil", [], To.intsOrNil(v:)),
        Self("intsOrNil", [1, 2], To.intsOrNil(v:)), Self("stringsOrNil", nil, To.stringsOrNil(v:)),
        Self("stringsOrNil", [], To.stringsOrNil(v:)), Self("stringsOrNil", [""], To.stringsOrNil(v:)),
        Self("suitsOrNil", nil, To.suitsOrNil(v:)), Self("suitsOrNil", [], To.suitsOrNil(v:)),
        Self("suitsOrNil", [.clubs], To.suitsOrNil(v:)), Self("filtersOrNil", nil, To.filtersOrNil(v:)),
        Self("filtersOrNil", [], To.filtersOrNil(v:)),
        Self("filtersOrNil", [filter], To.filtersOrNil(v:)),
    ]

    static let optionalOptionals: [Self] = [
        Self("intOrNilOrNil", .none, To.intOrNilOrNil(v:)),
        Self("intOrNilOrNil", .some(nil), To.intOrNilOrNil(v:)),
        Self("intOrNilOrNil", .some(5), To.intOrNilOrNil(v:)),
        Self("suitOrNilOrNil", .none, To.suitOrNilOrNil(v:)),
        Self("suitOrNilOrNil", .some(nil), To.suitOrNilOrNil(v:)),
        Self("suitOrNilOrNil", .some(.clubs), To.suitOrNilOrNil(v:)),
        Self("filterOrNilOrNil", .none, To.filterOrNilOrNil(v:)),
        Self("filterOrNilOrNil", .some(nil), To.filterOrNilOrNil(v:)),
        Self("filterOrNilOrNil", .some(filter), To.filterOrNilOrNil(v:)),
        Self("intsOrNilOrNil", .none, To.intsOrNilOrNil(v:)),
        Self("intsOrNilOrNil", .some(nil), To.intsOrNilOrNil(v:)),
        Self("intsOrNilOrNil", .some([]), To.intsOrNilOrNil(v:)),
        Self("intsOrNilOrNil", .some([1]), To.intsOrNilOrNil(v:)),
    ]

    static let defaulted: [Self] = [
        Self("intOrSeven", nil, To.intOrSeven(v:)), Self("intOrSeven", 5, To.intOrSeven(v:)),
        Self("intsOrOne", [], To.intsOrOne(v:)), Self("intsOrOne", [5], To.intsOrOne(v:)),
        Self("intsOrNilOrOne", nil, To.intsOrNilOrOne(v:)), Self("intsOrNilOrOne", [], To.intsOrNilOrOne(v:)),
        Self("filterOrAny", nil, To.filterOrAny(v:)), Self("filterOrAny", filter, To.filterOrAny(v:)),
    ]

    static var all: [Self] {
        self.plain + self.optional + self.arrays + self.arraysOfOptionals + self.optionalArrays
            + self.optionalOptionals + self.defaulted
    }
}

@Suite
struct ArgumentRoundTripTests {
    private func opened() async throws -> MessageBus {
        let bus = MessageBus()
        try await bus.install { Kinds() }
        return bus
    }

    @Test(arguments: SentValue.all)
    func `an argument sent by a typed URL arrives unchanged`(sent: SentValue) async throws {
        let bus = try await self.opened()
        #expect(try await bus.route(sent.url) == sent.shown)
    }

    @Test(arguments: SentValue.all)
    func `an argument sent by name arrives unchanged`(sent: SentValue) async throws {
        let bus = try await self.opened()
        let arrived: String = try await bus.route("app://kinds/\(sent.path)", parameters: ["v": sent.value])
        #expect(arrived == sent.shown)
    }
}

#endif
