#if Macros
import Testing
import Waybill
import WaybillTestSupport

@testable import WaybillDocuments

/// The formats of a document.
struct FormatTests {
    struct Item: Codable { let id: Int }

    @Module("app://shop")
    actor ShopModule {
        /// One item.
        ///
        /// It is on the shelf.
        @Route("/item/:id") func item(id: Int, page: Int = 1) -> Item { Item(id: id) }
        @Route("/list(/:page)") func list(page: Int?) -> [Item] { [] }
        @Route func add(item: Item) {}
        @Route func pack(progress: ProgressReplies<Item, Bool>) async {}
        @Route("/order/:id") func order(id: Int) throws(OrderError) -> Item { throw .unknown(id: id) }
        @Route("/files/**path") func file(path: String) -> String { path }
    }

    private func withDocument(_ body: (BusDocument, MessageBus) throws -> Void) async throws {
        let bus = MessageBus()
        try await bus.install { ShopModule() }
        try bus.expose("app://shop/item/:id", for: .reads)
        try bus.expose("app://shop/add")
        try body(bus.document(title: "shop"), bus)
        await bus.shutDown()
    }

    @Test func `AsyncAPI has an operation for each route, and two for an optional group`() async throws {
        try await self.withDocument { document, bus in
            let tree = try JSONTree(json: document.text(as: .asyncAPI))
            let operations = try #require(tree["operations"]?.members)
            #expect(
                operations.keys.sorted() == [
                    "app.shop.add", "app.shop.files.path", "app.shop.item.id", "app.shop.list",
                    "app.shop.list.page", "app.shop.order.id", "app.shop.pack",
                ]
            )
            #expect(operations.values.allSatisfy { $0["action"] == "receive" })
            let channels = try #require(tree["channels"]?.members)
            #expect(channels["app.shop.item.id"]?["address"] == "app://shop/item/{id}")
            #expect(channels["app.shop.item.id"]?["parameters"]?["id"]?["description"] == "Int")
            #expect(channels["app.shop.files.path"]?["x-waybill-pattern"] == "app://shop/files/**path")
            #expect(channels["app.shop.files.path"]?["description"] != nil)
            let patterns = Set(channels.values.compactMap { $0["x-waybill-pattern"]?.text })
            #expect(patterns == Set(bus.routes.map(\.pattern.text)))
            let reply = channels["app.shop.item.id.reply"]
            #expect(reply?["address"] == .null)
            let value = reply?["messages"]?["Value"]?["payload"]
            #expect(value?["properties"]?["kind"]?["const"] == "value")
            #expect(value?["properties"]?["value"] == ["$ref": "#/components/schemas/Item"])
            #expect(operations["app.shop.item.id"]?["summary"] == "One item.")
            #expect(operations["app.shop.item.id"]?["description"] == "It is on the shelf.")
        }
    }

    enum Size: String, Codable, CaseIterable { case small, large }

    @Module("app://shelf")
    actor ShelfModule {
        @Route("/:size") func count(size: Size) -> Int { 0 }
    }

    @Test func `AsyncAPI lists the values of an enumeration in an address`() async throws {
        let bus = MessageBus()
        try await bus.install { ShelfModule() }
        let tree = try JSONTree(json: bus.document().text(as: .asyncAPI))
        await bus.shutDown()
        let channel = tree["channels"]?["app.shelf.size"]
        #expect(channel?["parameters"]?["size"]?["enum"] == ["small", "large"])
    }

    @Test func `AsyncAPI has a channel for a route whose URL ends with reply`() async throws {
        let bus = MessageBus()
        for url in ["app://a", "app://a/reply"] { try bus.register(url) { _ in 1 } }
        try bus.expose("app://**")
        let tree = try JSONTree(json: bus.document().text(as: .asyncAPI))
        let openAPI = bus.document().text(as: .openAPI())
        await bus.shutDown()
        #expect(openAPI.contains("app.a.reply") && !openAPI.contains("reply_2"))
        let channels = try #require(tree["channels"]?.members)
        #expect(channels.values.filter { $0["address"] == .null }.count == 2)
        #expect(channels["app.a.reply"]?["messages"]?["Value"] != nil)
        #expect(channels.count == 4)
    }

    @Test func `AsyncAPI and OpenAPI list the errors that a route declares`() async throws {
        try await self.withDocument { document, bus in
            try bus.expose("app://shop/order/:id")
            let document = try BusDocument(json: bus.document(title: "shop").json)
            let codes = document.routes.flatMap(\.failures).map { "\($0.name).\($0.code) \($0.status)" }
            #expect(codes == ["OrderError.unknown 404", "OrderError.closed 409"])
            let openAPI = try JSONTree(json: document.text(as: .openAPI()))
            let responses = openAPI["paths"]?["/app/shop/order/{id}"]?["post"]?["responses"]
            #expect(
                responses?["404"]?["description"]?.text?.contains("`OrderError.unknown`: there is no") == true
            )
            #expect(responses?["409"]?["description"] == "`OrderError.closed`: the shop is closed.")
            let asyncAPI = try JSONTree(json: document.text(as: .asyncAPI))
            let failure = asyncAPI["channels"]?["app.shop.order.id.reply"]?["messages"]?["Failure"]
            #expect(failure?["examples"]?.elements?.first?["name"] == "OrderError.unknown")
        }
    }

    @Test func `each format has the types of the progress replies that a route declares`() async throws {
        try await self.withDocument { document, bus in
            try bus.expose("app://shop/pack")
            let document = bus.document(title: "shop")
            let asyncAPI = try JSONTree(json: document.text(as: .asyncAPI))
            let progress = asyncAPI["channels"]?["app.shop.pack.reply"]?["messages"]?["Progress"]
            #expect(progress?["payload"]?["properties"]?["value"] == ["$ref": "#/components/schemas/Item"])
            #expect(progress?["x-waybill-answer"] == ["type": "boolean"])
            let openAPI = try JSONTree(json: document.text(as: .openAPIWithStreams()))
            let responses = openAPI["paths"]?["/app/shop/pack"]?["post"]?["responses"]
            let events = responses?["200"]?["content"]?["text/event-stream"]?["itemSchema"]?["oneOf"]
            let data = events?.elements?.first?["properties"]?["data"]
            #expect(data?["contentSchema"] == ["$ref": "#/components/schemas/Item"])
            #expect(
                document.text(as: .markdown).contains("Progress replies are `Item`, answered with `Bool`.")
            )
            #expect(document.text(as: .site).contains("answered with <code>Bool</code>.</p>"))
        }
    }

    @Test func `OpenAPI has the URLs exposed for calls, with GET for reads`() async throws {
        try await self.withDocument { document, bus in
            let tree = try JSONTree(json: document.text(as: .openAPI(path: "/bus")))
            #expect(tree["openapi"] == "3.1.0")
            #expect(tree["servers"] == [["url": "/bus"]])
            let paths = try #require(tree["paths"]?.members)
            #expect(paths.keys.sorted() == ["/app/shop/add", "/app/shop/item/{id}"])
            let item = try #require(paths["/app/shop/item/{id}"])
            #expect(item["parameters"]?.elements?.map { $0["name"] } == ["id"])
            #expect(item["get"]?["parameters"]?.elements?.map { $0["name"] } == ["page"])
            #expect(item["get"]?["parameters"]?.elements?.first?["schema"]?["default"] == 1)
            let body = item["post"]?["requestBody"]?["content"]?["application/json"]?["schema"]
            #expect(body?["properties"]?["page"] != nil)
            #expect(paths["/app/shop/add"]?["get"] == nil)
            #expect(paths["/app/shop/add"]?["post"]?["responses"]?["204"] != nil)
            let problems = tree["components"]?["responses"]
            #expect(problems?["Problem404"]?["description"] == "Codes: noRoute.")
            #expect(bus.exposedOperations(of: "app://shop/add") == .calls)
        }
    }

    @Test func `OpenAPI has no GET for a parameter whose type is an array of itself`() throws {
        let json = #"""
            {"waybill": 1, "title": "", "version": "", "routes": [{
              "pattern": "app://a", "reply": "", "replySchema": {}, "exposed": ["calls", "reads"],
              "addresses": [{"scheme": "app", "segments": ["a"], "exact": true, "parameters": []}],
              "parameters": [{"name": "tree", "type": "Tree", "required": true,
                "schema": {"$ref": "#/components/schemas/Tree"}}]}],
             "components": {"schemas": {
              "Tree": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}}}
            """#
        let item = try JSONTree(json: BusDocument(json: json).text(as: .openAPI()))["paths"]?["/app/a"]
        #expect(item?["post"] != nil && item?["get"] == nil)
    }

    @Test func `OpenAPI 3.2 describes the events of a stream`() async throws {
        try await self.withDocument { document, _ in
            let tree = try JSONTree(json: document.text(as: .openAPIWithStreams()))
            #expect(tree["openapi"] == "3.2.0")
            let responses = tree["paths"]?["/app/shop/item/{id}"]?["post"]?["responses"]
            let events = responses?["200"]?["content"]?["text/event-stream"]?["itemSchema"]?["oneOf"]?
                .elements
            #expect(events?.count == 3)
            #expect(
                events?[1]["properties"]?["data"]?["contentSchema"] == ["$ref": "#/components/schemas/Item"]
            )
        }
    }

    @Test func `Markdown and the page list each route, and the page loads nothing from elsewhere`()
        async throws
    {
        try await self.withDocument { document, bus in
            let markdown = document.text(as: .markdown)
            let site = document.text(as: .site)
            for route in bus.routes {
                #expect(markdown.contains("### `\(route.pattern.text)`"))
                #expect(site.contains(route.pattern.text))
            }
            #expect(!site.contains("src=") && !site.contains("@import") && !site.contains("url("))
            #expect(site.contains("default-src 'none'"))
            #expect(site == document.text(as: .site))
        }
    }

    @Test func `the page escapes a program's texts`() async throws {
        let bus = MessageBus()
        try bus.register("app://x/<b>") { _ in 1 }
        let site = bus.document(title: "<script>alert(1)</script>{{sections}}").text(as: .site)
        #expect(!site.contains("<script>alert"))
        #expect(site.contains("app://x/&lt;b&gt;"))
        await bus.shutDown()
    }
}
#endif
