#if Macros
import Testing
import Waybill
import WaybillTestSupport

@testable import WaybillDocuments

/// Changes that break callers, tested by seeded changes of one document.
struct DocumentChangeTests {
    enum Size: String, Codable, CaseIterable { case small, large }
    struct Item: Codable {
        let id: Int
        var note: String?
        let size: Size
        let parts: [Part]
    }
    struct Part: Codable {
        let name: String
        let weight: Double
    }
    struct Node: Codable {
        let label: String
        let children: [Node]
    }

    @Module("app://shop")
    actor ShopModule {
        @Route("/item/:id") func item(id: Int, page: Int = 1, tag: String?) -> Item? { nil }
        @Route func add(item: Item, size: Size) {}
        @Route("/<int:a>/sum(/<int:b>)") func sum(a: Int, b: Int?) -> Int { a }
        @Route func tree() -> Node { Node(label: "", children: []) }
        @Route func pack(progress: ProgressReplies<Part, Size>) async {}
        @Route func list(progress: ProgressReplies<String?, Void>) async {}
        @Route func ship(progress: ProgressReplies<Part, Void>) async {}
        @Route func refund(order: Int) throws(OrderError) {}
        @Route("/code/:code([a-z]{2})") func code(code: String) -> [String: Double] { [:] }
    }

    private func document() async throws -> JSONTree {
        let bus = MessageBus()
        try await bus.install { ShopModule() }
        try bus.expose("app://shop/item/:id", for: .reads)
        let tree = bus.document().tree
        await bus.shutDown()
        return tree
    }

    /// A change of a document, and whether the change breaks callers.
    struct Seed: Sendable, CustomTestStringConvertible {
        let isBreaking: Bool
        let message: String
        let path: [String]
        let value: JSONTree?
        var testDescription: String { self.message }

        init(_ isBreaking: Bool, _ message: String, _ path: String, _ value: JSONTree?) {
            self.isBreaking = isBreaking
            self.message = message
            self.path = path.split(separator: " ").map(String.init)
            self.value = value
        }
    }

    // A path consists of names of members. An element is identified by its `name`, its `action` or its
    // position.
    static let seeds: [Seed] = [
        // Routes and addresses.
        Seed(true, "the route is gone", "routes item", nil),
        Seed(
            true,
            "`id` in the address is called `uid` now",
            "routes item addresses 0 parameters 0 name",
            "uid"
        ),
        Seed(
            true,
            "`a` in the address is string now, and was integer",
            "routes sum addresses 0 parameters 0 schema",
            ["type": "string"]
        ),
        Seed(
            true,
            "`code` in the address has another regex: [a-z]{3}",
            "routes code addresses 0 parameters 0 schema x-waybill-regex",
            "[a-z]{3}"
        ),
        Seed(
            false,
            "`code` in the address has no regex any more",
            "routes code addresses 0 parameters 0 schema x-waybill-regex",
            nil
        ),
        Seed(true, "the route is no longer exposed for reads", "routes item exposed", ["calls"]),
        Seed(true, "the route is no longer exposed for calls", "routes item exposed", []),
        Seed(false, "the route is now exposed for calls", "routes add exposed", ["calls"]),
        // Parameters.
        Seed(true, "the parameter `page` is gone", "routes item parameters page", nil),
        Seed(true, "the parameter `page` is required now", "routes item parameters page required", true),
        Seed(false, "the parameter `id` may be missing now", "routes item parameters id required", false),
        Seed(
            false,
            "the parameter `page` is 2 if it is missing, and was 1",
            "routes item parameters page default",
            "2"
        ),
        Seed(
            true,
            "the parameter `page` may not be null any more",
            "routes item parameters page schema type",
            "integer"
        ),
        Seed(
            true,
            "the parameter `id` is string now, and was integer",
            "routes item parameters id schema type",
            "string"
        ),
        Seed(
            false,
            "the parameter `id` is number now, and was integer",
            "routes item parameters id schema type",
            "number"
        ),
        Seed(
            false,
            "the parameter `id` may be null now",
            "routes item parameters id schema type",
            ["integer", "null"]
        ),
        Seed(
            true,
            "the maximum of the parameter `id` is 9 now",
            "routes item parameters id schema maximum",
            9
        ),
        Seed(
            true,
            "the minimum of the parameter `id` is 0 now",
            "routes item parameters id schema minimum",
            0
        ),
        Seed(
            false,
            "the minimum of the parameter `id` is none now",
            "routes item parameters id schema minimum",
            nil
        ),
        Seed(
            true,
            "the parameter `tag` has the format uuid now",
            "routes item parameters tag schema format",
            "uuid"
        ),
        Seed(
            true,
            "the parameter `tag` has the pattern ^a now",
            "routes item parameters tag schema pattern",
            "^a"
        ),
        Seed(
            true,
            "the parameter `tag` is one of a list now",
            "routes item parameters tag schema enum",
            ["a"]
        ),
        Seed(
            false,
            "the parameter `tag` is opaque now, and was string",
            "routes item parameters tag schema",
            [:]
        ),
        // Types that are sent and received: `Item` is both.
        Seed(
            true,
            "`weight` of an element of `parts` of the parameter `item` is gone",
            "components schemas Part properties weight",
            nil
        ),
        Seed(
            true,
            "`note` of the parameter `item` is required now",
            "components schemas Item required",
            ["id", "note", "parts", "size"]
        ),
        Seed(
            true,
            "`id` of the reply may be missing now",
            "components schemas Item required",
            ["parts", "size"]
        ),
        Seed(true, "the parameter `size` is no longer \"large\"", "components schemas Size enum", ["small"]),
        Seed(
            true,
            "`size` of the reply may be \"huge\" now",
            "components schemas Size enum",
            ["small", "large", "huge"]
        ),
        Seed(
            true,
            "`id` of the parameter `item` is string now, and was integer",
            "components schemas Item properties id",
            ["type": "string"]
        ),
        Seed(
            true,
            "`note` of the parameter `item` may not be null any more",
            "components schemas Item properties note type",
            "string"
        ),
        Seed(
            false,
            "`extra` of the parameter `item` is new",
            "components schemas Item properties extra",
            ["type": "string"]
        ),
        // Replies.
        Seed(
            false,
            "the reply is never null now",
            "routes item replySchema",
            ["$ref": "#/components/schemas/Item"]
        ),
        Seed(true, "the reply is string now, and was integer", "routes sum replySchema", ["type": "string"]),
        Seed(true, "the reply is number now, and was integer", "routes sum replySchema type", "number"),
        Seed(true, "the reply may be null now", "routes sum replySchema type", ["integer", "null"]),
        Seed(false, "the maximum of the reply is 5 now", "routes sum replySchema maximum", 5),
        Seed(true, "the reply is opaque now, and was integer", "routes sum replySchema", [:]),
        Seed(true, "the reply is integer now, and was null", "routes add replySchema", ["type": "integer"]),
        Seed(
            true,
            "a value of the reply is string now, and was number",
            "routes code replySchema additionalProperties type",
            "string"
        ),
        // Progress replies, and their answers.
        Seed(
            false,
            "the progress reply is never null now",
            "routes list progress updateSchema",
            ["type": "string"]
        ),
        Seed(
            true,
            "the progress reply may be null now",
            "routes pack progress updateSchema",
            ["anyOf": [["$ref": "#/components/schemas/Part"], ["type": "null"]]]
        ),
        Seed(
            true,
            "the answer to a progress reply is no longer \"large\"",
            "routes pack progress answerSchema",
            ["type": "string", "enum": ["small"]]
        ),
        Seed(
            false,
            "the answer to a progress reply may be \"tiny\" now",
            "routes pack progress answerSchema",
            ["type": "string", "enum": ["small", "large", "tiny"]]
        ),
        Seed(
            true,
            "the progress reply needs an answer now",
            "routes ship progress answerSchema",
            ["type": "string"]
        ),
        Seed(
            false,
            "the progress reply needs no answer any more",
            "routes pack progress answerSchema",
            ["type": "null"]
        ),
        Seed(true, "the route no longer declares the types of its", "routes pack progress", nil),
        Seed(
            false,
            "the route declares the types of its progress replies now",
            "routes tree progress",
            [
                "update": "Int", "updateSchema": ["type": "integer"], "answer": "Void",
                "answerSchema": ["type": "null"],
            ]
        ),
        // Declared errors.
        Seed(false, "the error `OrderError.unknown` is no longer declared", "routes refund failures 0", nil),
        Seed(true, "the error `OrderError.unknown` is no longer declared", "routes refund failures", []),
        Seed(true, "a new error `StockError.unknown`", "routes refund failures 0 type", "StockError"),
        Seed(
            true,
            "the error `OrderError.closed` has the HTTP status 500 now, and had 409",
            "routes refund failures 1 status",
            500
        ),
        Seed(
            false,
            "a new error `OrderError.late`",
            "routes tree failures",
            [["type": "OrderError", "code": "late", "message": "too late", "status": 410]]
        ),
        Seed(true, "`label` of the reply is gone", "components schemas Node properties label", nil),
        Seed(true, "`label` of the reply is gone", "components schemas Node properties", nil),
        Seed(
            true,
            "`children` of the reply is string now, and was array",
            "components schemas Node properties children",
            ["type": "string"]
        ),
    ]

    @Test(arguments: Self.seeds)
    func `comparing documents finds each seeded change, and whether it is breaking`(seed: Seed) async throws {
        let old = try await self.document()
        let new = Self.changed(old, seed.path[...], seed.value)
        #expect(old != new)
        let before = try BusDocument(json: old.written())
        let changes = try BusDocument(json: new.written()).changes(since: before)
        let found = changes.first { $0.message.contains(seed.message) }
        #expect(found?.isBreaking == seed.isBreaking, "\(changes)")
        #expect(changes.contains(where: \.isBreaking) == seed.isBreaking, "\(changes)")
    }

    @Test func `a document has no changes since itself, and forty changes are seeded`() async throws {
        #expect(Self.seeds.count >= 40)
        let document = try BusDocument(json: try await self.document().written())
        #expect(document.changes(since: document).isEmpty)
    }

    @Test func `a new route is a compatible change, and a removed route is a breaking one`() async throws {
        let bus = MessageBus()
        try bus.register("app://a") { _ in 1 }
        let old = bus.document()
        try bus.register("app://b") { _ in 1 }
        #expect(bus.document().changes(since: old).map(\.description) == ["compatible: app://b: a new route"])
        let gone = old.changes(since: bus.document())
        #expect(gone.map(\.description) == ["breaking: app://b: the route is gone"])
        await bus.shutDown()
    }

    @Test func `routes that differ only in the types of their values are different routes`() async throws {
        let bus = MessageBus()
        try bus.register("app://user/<int:id>") { _ in 1 }
        let old = bus.document()
        try bus.register("app://user/:name") { _ in 1 }
        let new = bus.document()
        await bus.shutDown()
        #expect(new.changes(since: new).isEmpty)
        let added = new.changes(since: old).map(\.description)
        let sentence = "a new route, which may handle URLs of app://user/<int:id>"
        #expect(added == ["compatible: app://user/:name: \(sentence)"])
        let removed = old.changes(since: new).map(\.description)
        #expect(removed == ["breaking: app://user/:name: the route is gone"])
    }

    @Test(arguments: ["<int:id>", "<uuid:id>", "<bool:id>", ":id([a-z]+)"])
    func `a typed value of the path that may be any text now is a compatible change`(old: String) async throws
    {
        let (before, after) = (MessageBus(), MessageBus())
        try before.register("app://item/\(old)") { _ in 1 }
        try after.register("app://item/:id") { _ in 1 }
        let (first, second) = (before.document(), after.document())
        await before.shutDown()
        await after.shutDown()
        let widened = second.changes(since: first).map(\.description)
        #expect(widened == ["compatible: app://item/\(old): `id` in the address may be any text now"])
        #expect(!first.changes(since: second).filter(\.isBreaking).isEmpty)
    }

    @Test func `a value that is not always in the path stays typed for callers who pass it as JSON`()
        async throws
    {
        let (before, after) = (MessageBus(), MessageBus())
        try before.register("app://item(/<int:id>)") { _ in 1 }
        try after.register("app://item(/:id)") { _ in 1 }
        let (first, second) = (before.document(), after.document())
        await before.shutDown()
        await after.shutDown()
        #expect(!second.changes(since: first).filter(\.isBreaking).isEmpty)
    }

    @Test(arguments: [
        ("app://item/:id", "app://item(/:id)"), ("app://item", "app://item(/:id)"),
        ("app://a/b", "app://a(/b)(/c)"), ("app://a/c", "app://a(/b)(/c)"),
        ("app://a(/:b)", "app://a(/:b)(/c)"),
    ])
    func `a part of the path that is optional now is a compatible change`(
        old: String,
        new: String
    ) async throws {
        let (before, after) = (MessageBus(), MessageBus())
        try before.register(old) { _ in 1 }
        try after.register(new) { _ in 1 }
        let (first, second) = (before.document(), after.document())
        await before.shutDown()
        await after.shutDown()
        #expect(second.changes(since: first).filter(\.isBreaking).isEmpty)
        #expect(!first.changes(since: second).filter(\.isBreaking).isEmpty)
    }

    /// Returns a tree with another value at a path.
    private static func changed(_ tree: JSONTree, _ path: ArraySlice<String>, _ value: JSONTree?) -> JSONTree
    {
        guard let step = path.first else { return value ?? tree }
        let rest = path.dropFirst()
        if var elements = tree.elements {
            let index = elements.indices.first { index in
                [elements[index]["action"], elements[index]["name"]].contains(.string(step))
                    || "\(index)" == step
            }
            guard let index else { return tree }
            if rest.isEmpty, value == nil {
                elements.remove(at: index)
            } else {
                elements[index] = self.changed(elements[index], rest, value)
            }
            return .array(elements)
        }
        var tree = tree
        tree[step] = rest.isEmpty ? value : self.changed(tree[step] ?? [:], rest, value)
        return tree
    }
}
#endif
