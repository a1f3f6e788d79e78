#if Macros
import Testing
import Waybill
@testable import WaybillDocuments
import WaybillTestSupport

/// The contents of a document.
struct BusDocumentTests {
    struct User: Codable, Equatable, Sendable {
        let uid: Int
        var name: String?
    }

    /// The users of a program.
    @Module("app://user")
    actor UserModule {
        /// The details of a user.
        @Route("/:uid/detail") func detail(uid: Int, name: String = "", tags: [String]) -> User {
            User(uid: uid, name: name)
        }

        /// Asks about users, and reports them.
        @Route func review(progress: ProgressReplies<User, Bool>) async throws {
            _ = try await progress.ask(User(uid: 1))
        }

        @Route func watch(_ then: @Sendable () -> Void) async {}

        @Route("/files/**path") func files(_ message: Message) -> [String: User] { [:] }
    }

    @Test func `a document describes a module's route with parameters, types and documentation`() async throws
    {
        let bus = MessageBus()
        try await bus.install { UserModule() }
        let document = bus.document(title: "Users", version: "2.0.0")
        #expect(document.title == "Users" && document.version == "2.0.0")
        #expect(document.routes.map(\.pattern) == bus.routes.map(\.pattern.text).sorted())
        let route = try #require(document.routes.first { $0.action == "detail" })
        #expect(route.module == "UserModule" && route.documentation == "The details of a user.")
        #expect(route.parameters.map(\.name) == ["uid", "name", "tags"])
        #expect(route.parameters.map(\.isRequired) == [true, false, false])
        #expect(route.parameters[1].schema.json == #"{"type":["string","null"]}"#)
        #expect(route.parameters[1].defaultValue == "\"\"" && route.parameters[1].type == "String")
        #expect(route.reply.json == ##"{"$ref":"#/components/schemas/User"}"##)
        #expect(route.replyType == "User")
        #expect(document.schemas["User"]?.json.contains(#""required":["uid"]"#) == true)
        let files = try #require(document.routes.first { $0.action == "files" })
        #expect(files.parameters.map(\.name) == ["path"])
        let watch = try #require(document.routes.first { $0.action == "watch" })
        #expect(watch.parameters[0].schema.json.contains("only callers in the same process"))
        #expect(watch.reply.json == #"{"type":"null"}"#)
        await bus.shutDown()
    }

    @Test func `a document describes the progress replies that a route declares, and reads older documents`()
        async throws
    {
        let bus = MessageBus()
        try await bus.install { UserModule() }
        try bus.expose("app://user/**")
        let document = bus.document()
        await bus.shutDown()
        let review = try #require(document.routes.first { $0.action == "review" })
        let progress = try #require(review.progress)
        #expect(review.parameters.isEmpty && progress.updateType == "User" && progress.answerType == "Bool")
        #expect(progress.update.json == ##"{"$ref":"#/components/schemas/User"}"##)
        #expect(progress.answer.json == #"{"type":"boolean"}"#)
        #expect(document.routes.count { $0.progress != nil } == 1)
        #expect(try BusDocument(json: document.json) == document)

        // A document from before progress replies had types.
        var tree = document.tree
        tree["routes"] = .array(
            (tree["routes"]?.elements ?? []).map { route in
                var route = route
                route["progress"] = nil
                return route
            }
        )
        let older = try BusDocument(json: tree.written())
        #expect(older.routes.allSatisfy { $0.progress == nil } && older.routes.count == document.routes.count)
        #expect(document.changes(since: older).allSatisfy { !$0.isBreaking })
        #expect(older.fingerprint != document.fingerprint)
    }

    @Test func `a document knows a closure's pattern and the type of its reply`() async throws {
        let bus = MessageBus()
        try bus.register("app://plain/<int:id>(/:tab)") { _ in User(uid: 1) }
        try bus.register("app://slow") { _ async in [1] }
        try bus.register("app://config", object: "text")
        try bus.register("app://any") { message -> any Sendable in message.id }
        let routes = bus.document().routes
        #expect(routes.map(\.replyType) == ["any Sendable", "String", "User", "[Int]"])
        #expect(routes[2].parameters.map(\.name) == ["id", "tab"])
        #expect(routes[2].parameters.map(\.isRequired) == [true, false])
        #expect(routes[2].parameters[0].schema.json.contains("integer"))
        #expect(routes[0].reply.json.contains("opaque"))
        await bus.shutDown()
    }

    @Test func `a document of the exposed routes omits the other routes`() async throws {
        let bus = MessageBus()
        try await bus.install { UserModule() }
        try bus.register("app://hidden") { _ in }
        try bus.expose("app://user/:uid/detail", for: .reads)
        try bus.expose("app://user/files/**", for: [.calls, .publishing])
        let all = bus.document().routes
        #expect(all.first { $0.action == "detail" }?.exposure == .reads)
        #expect(all.first { $0.action == "files" }?.exposure == [.calls, .publishing])
        #expect(all.first { $0.pattern == "app://hidden" }?.exposure == [])
        #expect(bus.document(of: .exposed).routes.compactMap(\.action) == ["detail", "files"])
        await bus.shutDown()
    }

    @Test func `a document is the same each time, and equals itself after reading its JSON`() async throws {
        func make(_ patterns: [String]) async throws -> BusDocument {
            let bus = MessageBus()
            for pattern in patterns { try bus.register(pattern) { _ in User(uid: 1) } }
            let document = bus.document()
            await bus.shutDown()
            return document
        }
        let patterns = (0..<50).map { "app://shop/part\($0)/:id(/:page)" }
        let document = try await make(patterns)
        #expect(document.json == (try await make(patterns.reversed())).json)
        #expect(try BusDocument(json: document.json) == document)
        var newer = document.tree
        newer["waybill"] = 99
        let text = newer.written()
        #expect(throws: DocumentError.self) { try BusDocument(json: text) }
        #expect(throws: (any Error).self) { try BusDocument(json: "[") }
    }

    @Test(arguments: ["routes", "components", "waybill"])
    func `a document with a member of another type is rejected`(name: String) async throws {
        let bus = MessageBus()
        try bus.register("app://user") { _ in User(uid: 1) }
        var tree = bus.document().tree
        await bus.shutDown()
        tree[name] = ["a": -1]
        let text = tree.written()
        #expect(throws: DocumentError.self) { try BusDocument(json: text) }
    }

    @Test(arguments: ["exposed", "replySchema", "addresses", "parameters"])
    func `a document with a damaged route is rejected`(name: String) async throws {
        let bus = MessageBus()
        try bus.register("app://user/:uid") { _ in User(uid: 1) }
        var tree = bus.document().tree
        await bus.shutDown()
        var route = try #require(tree["routes"]?.elements?.first)
        route[name] = "calls"
        tree["routes"] = [route]
        let text = tree.written()
        #expect(throws: DocumentError.self) { try BusDocument(json: text) }
    }

    @Test func `a hidden route whose type has the same name does not change the fingerprint`() async throws {
        enum Admin { struct User: Codable { let secret: String } }
        let bus = MessageBus()
        try bus.register("app://shop/user") { _ in User(uid: 1) }
        try bus.register("app://shop/users") { _ in [User(uid: 1)] }
        try bus.expose("app://shop/**")
        let before = bus.document()
        try bus.register("app://admin/user") { _ in Admin.User(secret: "x") }
        let after = bus.document()
        #expect(after.routes.last?.reply != before.routes.last?.reply)
        #expect(after.fingerprint == before.fingerprint)
        #expect(bus.document(of: .exposed).fingerprint == before.fingerprint)
        try bus.expose("app://admin/**")
        #expect(bus.document().fingerprint != before.fingerprint)
        await bus.shutDown()
    }

    @Test func `all of 130 routes are in every document, whose bytes are the same each time`() async throws {
        let bus = MessageBus()
        var random = RandomRoutes(seed: 130)
        while bus.routes.count < 130 {
            // Some random patterns conflict with another one, and some are invalid.
            _ = try? bus.register(random.pattern()) { _ in User(uid: 1) }
        }
        try bus.expose("**", for: .calls)
        let document = bus.document()
        #expect(document.routes.map(\.pattern).sorted() == bus.routes.map(\.pattern.text).sorted())
        let channels = try #require(JSONTree(json: document.text(as: .asyncAPI))["channels"]?.members)
        let patterns = Set(channels.values.compactMap { $0["x-waybill-pattern"]?.text })
        #expect(patterns == Set(bus.routes.map(\.pattern.text)))
        for format in [DocumentFormat.json, .asyncAPI, .openAPI(), .openAPIWithStreams(), .markdown] {
            #expect(document.text(as: format) == bus.document().text(as: format))
        }
        await bus.shutDown()
    }

    @Test func `a thousand routes are documented within five seconds`() async throws {
        let bus = MessageBus()
        for index in 0..<1000 {
            try bus.register("app://part\(index % 40)/item\(index)/<int:id>") { _ in User(uid: 1) }
        }
        let elapsed = ContinuousClock().measure { _ = bus.document().json }
        #expect(bus.document().routes.count == 1000)
        // The limit is far above the time of an optimized build, because a debug build runs beside other
        // tests.
        #expect(elapsed < .seconds(5))
        print("1,000 routes: \(elapsed)")
        await bus.shutDown()
    }
}
#endif
