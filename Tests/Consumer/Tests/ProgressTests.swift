import Testing
import Waybill
import WaybillDocuments

@Module("app://kitchen")
actor KitchenModule {
    /// Asks the caller before each step.
    @Route func prepare(drink: String, progress: ProgressReplies<String, Bool>) async throws -> String {
        for step in ["boil water", "fill the cup"] {
            guard try await progress.ask(step) else { return "no \(drink)" }
        }
        return drink
    }

    /// Sends progress replies without answers.
    @Route func clean(progress: ProgressReplies<Int, Void>) async -> Int {
        var heard = 0
        for percent in [50, 100] where await progress.send(percent) { heard += 1 }
        return heard
    }

    /// A route that is written by hand, with the types of its progress replies.
    static let byHand = ModuleRoute<KitchenModule>("app://kitchen/by/hand", action: "byHand") { _, message in
        await ProgressReplies<Int, Void>(to: message).send(1)
    }
    .reporting(ProgressReplies<Int, Void>.self)
}

struct ProgressTests {
    @Test func `a handler declares the types of its progress replies and of the answers`() async throws {
        let bus = MessageBus()
        try await bus.install { KitchenModule() }
        var steps: [String] = []
        let drink: String = try await bus.route("app://kitchen/prepare?drink=tea") { (step: String) in
            steps.append(step)
            return steps.count < 2
        }
        #expect(drink == "no tea" && steps == ["boil water", "fill the cup"])
        let url = try KitchenModule.urls.prepare(drink: "tea").text()
        #expect(try await bus.route(url, as: String.self) { (_: String) in true } == "tea")
        #expect(try await bus.route("app://kitchen/clean", as: Int.self) { (_: Int) in } == 2)
        #expect(try await bus.route("app://kitchen/clean", as: Int.self) == 0)
    }

    @Test func `a document has the types of the progress replies that a route declares`() async throws {
        let bus = MessageBus()
        try await bus.install { KitchenModule() }
        let route = try #require(bus.document().routes.first { $0.action == "prepare" })
        let progress = try #require(route.progress)
        #expect(progress.updateType == "String" && progress.answerType == "Bool")
        #expect(progress.update.json == #"{"type":"string"}"#)
        #expect(progress.answer.json == #"{"type":"boolean"}"#)
        let declared = try #require(KitchenModule.byHand.description.progress)
        #expect(declared.update == "Int" && declared.answer == "Void")
        let descriptions = bus.routeDescriptions.compactMap(\.progress)
        #expect(Set(descriptions).count == 2 && descriptions.contains(declared))
        #expect(Set(bus.document().routes.compactMap(\.progress)).contains(progress))
        await bus.shutDown()
    }
}
