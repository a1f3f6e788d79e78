import FoundationEssentials
import Testing
import Waybill

@Suite
struct TypedURLTests {
    @Test
    func `values fill the pattern and the query, each encoded as it has to be`() throws {
        let none: Int? = nil
        let url = TypedURL<Void>("app://user/:uid/<path:rest>")
            .with("uid", 7)
            .with("rest", "a b/c")
            .with("name", "Ä & Ö")
            .with("id", [1, 2])
            .with("none", none)
            .with("side", Side.left)
            .with("on", Date(timeIntervalSinceReferenceDate: 0))
        #expect(
            try url.text()
                == "app://user/7/a%20b/c?name=%C3%84%20%26%20%C3%96&id=1&id=2&side=left&on=2001-01-01T00%3A00%3A00Z"
        )
        #expect(url.parameters.isEmpty)
    }

    @Test(arguments: ["a", "ab cd", "Ä", String(repeating: "x", count: 300)])
    func `a URL without placeholders grows by its values, however long they are`(text: String) throws {
        let url = TypedURL<Void>("app://user/detail").with("n m", Int.min).with("text", text).with("on", true)
        let encoded = Address.encode(text)
        #expect(try url.text() == "app://user/detail?n%20m=\(Int.min)&text=\(encoded)&on=true")
        #expect(try TypedURL<Void>("app://user/detail").text() == "app://user/detail")
    }

    @Test
    func `a URL that is kept is not changed by another that is made of it`() throws {
        let base = TypedURL<Void>("app://user/detail").with("a", 1)
        let more = base.with("b", "x")
        #expect(try base.text() == "app://user/detail?a=1")
        #expect(try more.text() == "app://user/detail?a=1&b=x")
    }

    @Test
    func `what has no text is passed with the call, and typed where it arrives`() async throws {
        let bus = MessageBus()
        try bus.register("app://pay/start") { message -> String in
            let done: @Sendable (Int) -> String = try message.argument("done")
            return done(try message.argument("sum"))
        }
        let done: @Sendable (Int) -> String = { "paid \($0)" }
        let url = TypedURL<String>("app://pay/start").with("sum", 42).with("done", done)
        #expect(try await bus.route(url) == "paid 42")
    }

    @Test
    func `a value that cannot stand in the pattern is an error, and a dead letter when it is sent`()
        async throws
    {
        let bus = MessageBus()
        let letters = bus.deadLetters
        let url = TypedURL<Void>("app://user/:uid").with("uid", "")
        let error = await #expect(throws: RoutingError.self) { try await bus.route(url) }
        #expect(error?.code == .invalidParameter)
        bus.send(url)
        for await letter in letters {
            #expect(letter.error.code == .invalidParameter)
            break
        }
        #expect(bus.statistics.deadLettered == 1)
    }
}

private enum Side: String { case left, right }
