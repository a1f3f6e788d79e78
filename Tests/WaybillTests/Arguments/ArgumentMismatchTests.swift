#if Macros && Foundation

import FoundationEssentials
import Testing
import Waybill

/// A value that does not fit the parameter of a route of ``Kinds``.
struct MisfitValue: Sendable, CustomTestStringConvertible {
    let path: String
    /// Nil for a parameter that is not an Optional.
    let value: (any Sendable)?
    let text: String
    let message: String

    init(_ path: String, passing value: any Sendable, _ message: String) {
        self.path = path
        self.value = value
        self.text = ""
        self.message = message
    }

    init(_ path: String, text: String, _ message: String) {
        self.path = path
        self.value = nil
        self.text = text
        self.message = message
    }

    var testDescription: String { "\(self.path): \(self.message)" }
}

@Suite
struct ArgumentMismatchTests {
    private static let closure: @Sendable (Int) -> Int = { $0 }

    @Test(arguments: [
        MisfitValue("int", passing: "x", #"expected Int, but `v` is String "x""#),
        MisfitValue("int", passing: [1], "expected Int, but `v` is [Int]"),
        MisfitValue("int", passing: 1.5, "expected Int, but `v` is Double 1.5"),
        MisfitValue("int", passing: Filter(words: ["1"]), "expected Int, but `v` is Filter"),
        MisfitValue("int", passing: Self.closure, "expected Int, but `v` is @Sendable (Int) -> Int"),
        MisfitValue("byte", passing: 256, "expected UInt8, but `v` is Int 256"),
        MisfitValue("bool", passing: 1, "expected Bool, but `v` is Int 1"),
        MisfitValue("string", passing: 5, "expected String, but `v` is Int 5"),
        MisfitValue("string", passing: true, "expected String, but `v` is Bool true"),
        MisfitValue("string", passing: ["x"] as [String?], "expected String, but `v` is [String?]"),
        MisfitValue("stringOrNil", passing: 5, "expected String, but `v` is Int 5"),
        MisfitValue("strings", passing: 5, "expected String, but `v` is Int 5"),
        MisfitValue("strings", passing: ["x", nil] as [String?], "expected [String], but `v` is [String?]"),
        MisfitValue("ints", passing: ["x"], "expected [Int], but `v` is [String]"),
        MisfitValue("ints", passing: ["a": 1], "expected Int, but `v` is [String: Int]"),
        MisfitValue("rank", passing: 3, "expected Rank (1 or 2), but `v` is Int 3"),
        MisfitValue("suit", passing: "x", #"expected Suit (clubs or hearts), but `v` is String "x""#),
        MisfitValue("suit", passing: Rank.low, "expected Suit (clubs or hearts), but `v` is Rank"),
        MisfitValue("filter", passing: 5, "expected Filter, but `v` is Int 5"),
        MisfitValue("filters", passing: Filter(words: []), "expected [Filter], but `v` is Filter"),
        MisfitValue("counts", passing: [1], "expected [String: Int], but `v` is [Int]"),
        MisfitValue("suits", text: "clubs&v=x", #"expected Suit (clubs or hearts), but `v` is String "x""#),
        MisfitValue("int", text: "a%0Ab", #"expected Int, but `v` is String "a\nb""#),
        MisfitValue("int", text: "", #"expected Int, but `v` is String """#),
        MisfitValue(
            "filter",
            text: "x",
            #"expected Filter, but `v` is String "x": pass the value with the call"#
        ),
        MisfitValue(
            "filters",
            text: "x",
            #"expected [Filter], but `v` is String "x": pass the value with the call"#
        ),
    ])
    func `the error of an argument of another type has both types`(misfit: MisfitValue) async throws {
        let bus = MessageBus()
        try await bus.install { Kinds() }
        let error = await #expect(throws: RoutingError.self) {
            if let value = misfit.value {
                _ = try await bus.route("app://kinds/\(misfit.path)", parameters: ["v": value])
            } else {
                _ = try await bus.route("app://kinds/\(misfit.path)?v=\(misfit.text)")
            }
        }
        #expect(error?.code == .invalidParameter)
        #expect(error?.message == misfit.message)
    }

    @Test(
        arguments: [
            ("int", 5 as UInt8, "5"), ("byte", 5, "5"), ("double", 5, "5.0"), ("rank", 2, "high"),
            ("ints", 5, "[5]"),
            ("ints", ["5"], "[5]"), ("int", "5", "5"), ("suit", "clubs", "clubs"),
            ("intOrNil", "5", "Optional(5)"),
            ("bool", "1", "true"), ("ints", [5 as UInt8], "[5]"),
            ("intOrNilOrNil", 5, "Optional(Optional(5))"),
            ("intOrNil", Int??.some(5), "Optional(5)"), ("int", Int?.some(5), "5"),
            ("intOrNilOrNil", Int?.none, "Optional(nil)"), ("intOrNil", Int??.none, "nil"),
            ("intOrNil", String?.none, "nil"), ("tag", "#a", "a"),
        ] as [(String, any Sendable, String)]
    )
    func `a text, a number and an Optional are converted to the related type of the parameter`(
        path: String,
        value: any Sendable,
        shown: String
    ) async throws {
        let bus = MessageBus()
        try await bus.install { Kinds() }
        let arrived: String = try await bus.route("app://kinds/\(path)", parameters: ["v": value])
        #expect(arrived.contains(shown))
    }

    @Test
    func `nil for a parameter that is not an Optional is a missing parameter`() async throws {
        let bus = MessageBus()
        try await bus.install { Kinds() }
        for path in ["int", "string", "suit", "filter"] {
            let error = await #expect(throws: RoutingError.self) {
                try await bus.route("app://kinds/\(path)?v=1", parameters: ["v": Int?.none])
            }
            #expect(error?.code == .missingParameter)
            #expect(error?.message.hasSuffix(", but `v` is nil") == true)
        }
    }

    @Test
    func `two values for one path parameter are an error`() {
        let url = TypedURL<Void>("app://user/:ids").with("ids", [1, 2])
        let error = #expect(throws: RoutingError.self) { try url.text() }
        #expect(error?.code == .invalidParameter)
        #expect(
            error?.message
                == "expected one value, because `ids` is in the path of app://user/:ids, but found 2"
        )
    }
}

#endif
