#if Macros

import FoundationEssentials
import Testing
import Waybill
import WaybillTestSupport

@Module("app://replies")
private actor Replies {
    typealias Done = @Sendable (Int) -> Int

    @Route func texts() -> [String] { [] }
    @Route func textOrNil() -> String? { nil }
    @Route func textsOrNil() -> [String?]? { nil }
    @Route func counts() -> [String: Int] { [:] }
    @Route func anything() -> any Sendable { 1 }
    @Route func anythingOrNil() -> (any Sendable)? { nil }
    @Route func shape() -> any Shape { Square() }
    @Route func shapes() -> [any Shape] { [] }
    @Route func nothing() {}
    @Route func closure() -> @Sendable (Int) -> Int { { $0 } }
    @Route func run(done: @escaping Done) -> Int { done(1) }
}

@Suite
struct RouteDescriptionTests {
    @Test
    func `the description of a route has the reply's type as written in Swift`() {
        let replies = Replies.routes.map { ($0.description.action ?? "", $0.description.reply) }
        #expect(
            Dictionary(uniqueKeysWithValues: replies) == [
                "texts": "[String]", "textOrNil": "String?", "textsOrNil": "[String?]?",
                "counts": "[String: Int]", "anything": "any Sendable", "anythingOrNil": "(any Sendable)?",
                "shape": "any Shape", "shapes": "[any Shape]", "nothing": "Void",
                "closure": "@Sendable (Int) -> Int", "run": "Int",
            ]
        )
    }

    @Test
    func `a closure whose type is a type alias can be an argument of a typed URL`() async throws {
        let bus = MessageBus()
        try await bus.install { Replies() }
        #expect(try await bus.route(Replies.urls.run { $0 + 1 }) == 2)
    }

    @Test(arguments: [
        ("Int", true), ("Int?", false), ("Optional<Int>", false), ("[Int]", false), ("Array<Int>", false),
        ("[[String: Int]]", false), ("[(Int, to: Int)]", false), ("[String: Int]", true),
        ("[Int: [Int]]", true),
        ("[Int]?", false), ("@Sendable (Int) -> [Int]", true),
    ])
    func `a parameter is required unless it is an Optional, an array or has a default`(
        type: String,
        isRequired: Bool
    ) {
        #expect(RouteDescription.Parameter("v", type).isRequired == isRequired)
        #expect(!RouteDescription.Parameter("v", type, default: "x").isRequired)
    }

    private struct Line: Sendable {}

    private typealias Limit = Int?

    @Test func `a parameter of a known type is required if its handler rejects a message without it`() {
        let types: [(String, any Any.Type, Bool)] = [
            ("[Line]", [Line].self, true), ("Limit", Limit.self, false), ("[Decimal]", [Decimal].self, false),
            ("[Int]", [Int].self, false), ("@Sendable (Int) -> Int?", (@Sendable (Int) -> Int?).self, true),
        ]
        for (name, type, isRequired) in types {
            #expect(RouteDescription.Parameter("v", name, of: type).isRequired == isRequired, "\(name)")
        }
    }
}

#endif
