import Testing
import Waybill
import WaybillDocuments

/// A temperature that states its own schema.
struct Temperature: Codable, Sendable, DocumentedValue {
    static let documentedSchema = #"{"type":"object","properties":{"celsius":{"minimum":-273.15}}}"#

    let celsius: Double
}

/// Documents of a program's routes.
struct DocumentTests {
    @Test func `a program writes documents of its routes in each format`() async throws {
        let bus = MessageBus()
        try await bus.install { Plain() }
        try bus.register("app://weather/<int:day>") { _ in Temperature(celsius: 21) }
        try bus.expose("app://weather/*", for: .reads)
        let document = bus.document(title: "program", version: "1.2.0", of: .all)
        #expect(document.title == "program" && document.version == "1.2.0")
        #expect(document.routes.map(\.pattern) == bus.routes.map(\.pattern.text).sorted())
        #expect(bus.document(of: DocumentScope.exposed).routes.map(\.pattern) == ["app://weather/<int:day>"])

        let weather = try #require(document.routes.last { $0.exposure == .reads })
        #expect(weather.module == nil && weather.action == nil && weather.documentation.isEmpty)
        #expect(weather.replyType == "Temperature" && weather.reply.json.contains("Temperature"))
        #expect(document.schemas["Temperature"]?.json.contains("-273.15") == true)
        let day = try #require(weather.parameters.first)
        #expect(day.name == "day" && day.type == "int" && day.isRequired && day.defaultValue == nil)
        #expect(day.schema.json.contains("integer"))

        #expect(try BusDocument(json: document.json) == document)
        let formats: [DocumentFormat] = [
            .json, .markdown, .asyncAPI, .site, .openAPI(path: "/bus"), .openAPIWithStreams(path: "/bus"),
        ]
        for format in formats { #expect(document.text(as: format).contains("weather")) }
        await bus.shutDown()
    }

    @Test func `comparing two documents finds a removed route as a breaking change`() async throws {
        let bus = MessageBus()
        try bus.register("app://weather") { _ in Temperature(celsius: 21) }
        let old = bus.document()
        bus.unregister("app://weather")
        let change = try #require(bus.document().changes(since: old).first)
        #expect(
            change.isBreaking && change.pattern == "app://weather" && change.message == "the route is gone"
        )
        #expect(change.description == "breaking: app://weather: the route is gone")
        await bus.shutDown()
    }

    @Test func `two descriptions of a parameter are equal with and without its type`() {
        let parameter = RouteDescription.Parameter("day", "Int", of: Int.self, default: "1")
        #expect(parameter == RouteDescription.Parameter("day", "Int", default: "1"))
    }
}
