#if Tracing
import InMemoryTracing
import ServiceContextModule
import Testing
import Tracing
import Waybill
import WaybillEventLoop
import WaybillTracing

@Suite(.timeLimit(.minutes(1)))
struct TracingMiddlewareTests {
    let bus = MessageBus()
    let tracer = InMemoryTracer()

    init() { self.bus.use(TracingMiddleware(tracer: self.tracer)) }

    private func spans(_ count: Int) async -> [String: FinishedInMemorySpan] {
        for _ in 0..<10_000 where self.tracer.finishedSpans.count < count {
            try? await Task.sleep(for: .milliseconds(1))
        }
        return Dictionary(self.tracer.finishedSpans.map { ($0.operationName, $0) }) { first, _ in first }
    }

    actor Caller: LoopBound {
        let eventLoop: EventLoop
        init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
        func route(_ url: String, _ bus: MessageBus) async throws -> String { try await bus.route(url) }
    }

    @Test(arguments: ["app://now/:id", "app://later/:id"], [true, false])
    func `each delivery has a span, whose context reaches the handler`(
        pattern: String,
        isOnLoop: Bool
    ) async throws {
        let loop = self.bus.eventLoop
        try self.bus.register("app://now/:id") { _ -> String in
            loop.preconditionInEventLoop()
            return ServiceContext.current?.inMemorySpanContext?.spanID ?? "none"
        }
        try self.bus.register("app://later/:id") { _ -> String in
            await Task.yield()
            return ServiceContext.current?.inMemorySpanContext?.spanID ?? "none"
        }
        let url = pattern.replacing(":id", with: "1")
        let id: String =
            isOnLoop
            ? try await Caller(eventLoop: loop).route(url, self.bus) : try await self.bus.route(url)
        let span = try #require(await self.spans(1)[pattern])
        #expect(span.spanID == id && span.errors.isEmpty && span.parentSpanID == nil)
        #expect(span.attributes.get("waybill.url") == .string(url))
    }

    @Test func `the messages of a handler are children of its span`() async throws {
        let bus = self.bus
        try bus.register("app://outer") { [weak bus] _ in
            try await bus?.route("app://inner", as: Void.self)
            bus?.send("app://sent")
        }
        try bus.register("app://inner") { _ in }
        try bus.register("app://sent") { _ in }
        try await bus.route("app://outer", as: Void.self)
        let spans = await self.spans(3)
        let outer = try #require(spans["app://outer"])
        #expect(spans["app://inner"]?.parentSpanID == outer.spanID)
        #expect(spans["app://sent"]?.parentSpanID == outer.spanID)
        #expect(spans["app://sent"]?.traceID == outer.traceID)
    }

    @Test func `the span of a return leg links to the span of the message that it answers`() async throws {
        try self.bus.register("app://pay") { _ in 1 }
        try self.bus.register("app://home/a") { _ in }
        try await self.bus.route("app://pay#home/a", as: Void.self)
        let spans = await self.spans(2)
        let pay = try #require(spans["app://pay"])
        let home = try #require(spans["app://home/a"])
        #expect(home.parentSpanID == nil && home.links.count == 1)
        #expect(home.links.first?.context.inMemorySpanContext?.spanID == pay.spanID)
    }

    @Test func `the span of a failed message records the error`() async throws {
        struct Oops: Error {}
        try self.bus.register("app://fails") { _ in throw Oops() }
        _ = try? await self.bus.route("app://fails")
        let span = try #require(await self.spans(1)["app://fails"])
        #expect(span.errors.count == 1 && span.status?.code == .error)
        #expect(span.attributes.get("waybill.code") == .string("handlerFailed"))
    }

    @Test func `a context in the headers is the parent of the span`() async throws {
        try self.bus.register("app://a") { _ in }
        let remote = self.tracer.startSpan("remote", context: .topLevel)
        let headers = [
            InMemoryTracer.traceIDKey: remote.traceID, InMemoryTracer.spanIDKey: remote.spanID,
        ]
        _ = try await self.bus.route("app://a", headers: headers)
        remote.end()
        let span = try #require(await self.spans(2)["app://a"])
        #expect(span.parentSpanID == remote.spanID && span.traceID == remote.traceID)
    }
}
#endif
