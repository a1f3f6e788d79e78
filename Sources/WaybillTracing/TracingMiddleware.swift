#if Tracing
internal import Instrumentation
internal import ServiceContextModule
public import Tracing
public import Waybill
internal import WaybillEventLoop

/// A middleware that creates a span for each delivery, with swift-distributed-tracing.
///
/// ```swift
/// bus.use(TracingMiddleware())
/// ```
///
/// The name of a span is the pattern that the message matched. The parent of the span is the span in the
/// message's headers, which another process may have written, and otherwise the current span of the sender.
/// The middleware writes the current span into the headers of a message that no caller awaits. The handler
/// finds the new span in `ServiceContext.current` and in the headers of the message. Messages that the
/// handler sends have child spans.
///
/// A message to a return URL begins a new trace, because the original caller has already continued. The span
/// of this message has a link to the span of the message whose reply it contains.
public struct TracingMiddleware: Middleware {
    private let tracer: (any Tracer)?

    var instrument: any Instrument { self.tracer ?? InstrumentationSystem.instrument }

    /// Creates a middleware that traces deliveries.
    ///
    /// - Parameter tracer: The tracer that creates the spans; nil for the tracer that the program has set
    ///   with `InstrumentationSystem.bootstrap`.
    public init(tracer: (any Tracer)? = nil) { self.tracer = tracer }

    /// Writes the current span of the sender into the headers of a message.
    public func prepare(_ message: Message) -> Message {
        // A message to a return URL already has the headers of the message whose reply it contains.
        guard message.correlationID == nil, let context = ServiceContext.current else { return message }
        return message.with(headers: self.headers(for: context))
    }

    /// Delivers a message inside a span.
    public nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        let pattern = context.pattern
        let span = self.start(message, pattern)
        defer { span.end() }
        do throws(RoutingError) {
            let message = message.with(headers: self.headers(for: span.context))
            return try await self.deliver(message, next, in: span.context)
        } catch {
            span.attributes["waybill.code"] = error.code.description
            span.setStatus(SpanStatus(code: .error, message: error.message))
            span.recordError(error)
            throw error
        }
    }

    private func start(_ message: Message, _ pattern: String?) -> any Span {
        var context = ServiceContext.current ?? .topLevel
        let carried = self.context(in: message.headers, inside: context)
        let isAnswer = message.correlationID != nil
        if isAnswer { context = .topLevel } else { context = carried }
        let tracer = self.tracer ?? InstrumentationSystem.tracer
        let span: any Span = tracer.startSpan(
            pattern ?? "no route",
            context: context,
            ofKind: isAnswer ? .consumer : .server
        )
        if isAnswer { span.addLink(SpanLink(context: carried, attributes: [:])) }
        span.attributes["waybill.url"] = SafeText.line(message.address.text, limit: SafeText.limit)
        span.attributes["waybill.id"] = message.id.description
        return span
    }

    /// Delivers a message while a span is current, without leaving the event loop of the caller.
    private nonisolated(nonsending) func deliver(
        _ message: Message,
        _ next: borrowing Next,
        in context: ServiceContext
    ) async throws(RoutingError) -> any Sendable {
        guard let loop = EventLoop.current else {
            return try await Self.bind(context, message: message, next: next).get()
        }
        return try await LoopActor(eventLoop: loop).bind(context, message: message, next: next).get()
    }

    private nonisolated(nonsending) static func bind(
        _ context: ServiceContext,
        message: Message,
        next: borrowing Next
    ) async -> Result<any Sendable, RoutingError> {
        await ServiceContext.$current.withValue(context) { await next.result(of: message) }
    }
}

/// An actor on a given loop, for code that requires an actor.
///
/// Code that binds a task-local value continues on the loop only if the code is isolated to an actor.
private actor LoopActor: LoopBound {
    nonisolated let eventLoop: EventLoop

    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    func bind(
        _ context: ServiceContext,
        message: Message,
        next: borrowing Next
    ) async -> Result<any Sendable, RoutingError> {
        await ServiceContext.$current.withValue(context) {
            // The closure is isolated to the actor only if the closure captures the actor.
            _ = self
            return await next.result(of: message)
        }
    }
}

extension Next {
    fileprivate nonisolated(nonsending) func result(
        of message: Message
    ) async -> Result<any Sendable, RoutingError> {
        do throws(RoutingError) {
            return .success(try await self.attempt(message))
        } catch {
            return .failure(error)
        }
    }
}
#endif
