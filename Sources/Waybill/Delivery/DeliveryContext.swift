internal import Synchronization
internal import WaybillEventLoop

/// The context in which code runs: the message that the code handles.
///
/// Messages that the code sends inherit the hop count and the deadline of this message.
struct DeliveryContext: Sendable {
    /// The exchange with the caller of the message, or a record for code that has no exchange.
    private let source: any ContextSource

    init(_ source: any ContextSource) { self.source = source }

    /// The number of earlier messages in the chain in which the handler of each message sent the next
    /// message.
    var hops: Int { self.source.hops }

    /// The time at which the message's caller stops waiting.
    var expiry: Deadline { self.source.expiry }

    /// The ID of the message; nil in the handler for URLs that no pattern matches.
    var id: CorrelationID? { self.source.message }

    /// The context of the handler that waits for the message, or nil when no handler does.
    var outer: DeliveryContext? { self.source.outer }

    /// The context that the calling task has inherited.
    @TaskLocal private static var task = Inherited(context: nil)

    /// A context as a task-local value.
    ///
    /// The structure wraps the optional because the runtime would copy a bare optional through the metadata
    /// of the optional's type. This copy takes as long as the lookup of the value. The compiler generates a
    /// fast copy function for a type of this module.
    struct Inherited: Sendable {
        fileprivate let context: DeliveryContext?
    }

    /// The task-local value in which a handler's task finds the context.
    static var local: TaskLocal<Inherited> { self.$task }

    var inherited: Inherited { Inherited(context: self) }

    static func run<Result>(in context: DeliveryContext, _ body: () throws -> Result) rethrows -> Result {
        defer { context.end() }
        return try self.$task.withValue(context.inherited) { try body() }
    }

    /// Records that the code in the context has ended.
    ///
    /// A task that the code has started may still have the context, and a later task may get the number of
    /// the task that has ended.
    func end() { self.source.endRunning() }

    /// The context of the calling code.
    ///
    /// This is the context of the handler that the code is part of. In the body of a loop over the replies to
    /// a message, it is the context of the handler that sent the reply and waits for the next iteration.
    static var current: DeliveryContext? {
        let inherited = self.task.context
        return ReplyReaders.context(inside: inherited) ?? inherited
    }

    /// The context of the handler that waits for the calling code to end, or nil when no handler does.
    ///
    /// A task that a handler creates with `Task { }` has the handler's context, but the handler does not wait
    /// for the task. This property is therefore nil in the task. An `async let` inside of the task cannot be
    /// distinguished from an `async let` of the handler, so the property treats both as code that the handler
    /// waits for.
    static var waiting: DeliveryContext? {
        guard let context = self.current else { return nil }
        return context.source.taskNumber == CurrentTask.id || CurrentTask.isChild ? context : nil
    }

    /// Returns a copy of the context for the calling task, in which the waiting handler's caller answers a
    /// reply.
    func adopted() -> DeliveryContext {
        Self(
            ContextRecord(
                hops: self.hops,
                expiry: self.expiry,
                id: self.id,
                exchange: self.source.counted,
                outer: self.outer
            )
        )
    }

    /// This context, and then the contexts in which it is nested, from the innermost to the outermost.
    private var chain: some Sequence<DeliveryContext> { sequence(first: self, next: \.outer) }

    /// Returns whether this context is the given context, or is nested in it.
    func isInside(_ context: DeliveryContext) -> Bool { self.chain.contains { $0.source === context.source } }

    /// Runs a caller's code for a progress reply in the context of the handler that sent the reply, with the
    /// isolation of the caller.
    ///
    /// A `nonisolated(nonsending)` caller must pass its isolation, because a default argument would be nil
    /// there.
    static func run<Result>(
        in context: DeliveryContext?,
        isolation: isolated (any Actor)?,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard let context = context?.adopted() else { return try await body() }
        defer { context.end() }
        return try await Self.$task.bind(context.inherited, isolation: isolation, body)
    }

    /// The IDs of the messages whose handlers wait for the code in this context.
    var messages: Set<CorrelationID> { Set(self.chain.lazy.compactMap(\.id)) }

    /// The exchanges of the messages whose handlers wait for the code in this context, innermost first.
    var exchanges: [Exchange] {
        self.chain.reduce(into: []) { exchanges, context in
            guard let exchange = context.source.counted else { return }
            if !exchanges.contains(where: { $0 === exchange }) { exchanges.append(exchange) }
        }
    }
}

/// An object that describes a ``DeliveryContext``, whose properties have the same meaning.
protocol ContextSource: AnyObject, Sendable {
    var hops: Int { get }
    var expiry: Deadline { get }
    var message: CorrelationID? { get }
    /// The exchange of the handler that runs the code, or else of the nearest handler that waits for the
    /// code; nil when there is no such handler.
    var counted: Exchange? { get }
    var outer: DeliveryContext? { get }
    /// The number of the task that runs the code, from ``CurrentTask``; a number of no task when no code
    /// runs.
    var taskNumber: UInt { get }
    func endRunning()
}

extension Exchange: ContextSource {
    var message: CorrelationID? { self.id }
    var counted: Exchange? { self }
}

/// The context of code that does not have its own exchange.
final class ContextRecord: ContextSource {
    let hops: Int
    let expiry: Deadline
    let message: CorrelationID?
    let counted: Exchange?
    let outer: DeliveryContext?
    private let runner = Atomic<UInt>(CurrentTask.id)

    init(
        hops: Int,
        expiry: Deadline = .never,
        id: CorrelationID? = nil,
        exchange: Exchange? = nil,
        outer: DeliveryContext? = nil
    ) {
        self.hops = hops
        self.expiry = expiry
        self.message = id
        self.counted = exchange
        self.outer = outer
    }

    var taskNumber: UInt { self.runner.load(ordering: .relaxed) }

    func endRunning() { self.runner.store(CurrentTask.none, ordering: .relaxed) }

    /// Creates the context of a message whose handler runs in the task of its caller.
    convenience init(_ message: Message, inside outer: DeliveryContext?) {
        self.init(hops: message.hops, expiry: message.expiry, id: message.id, outer: outer)
    }
}

extension MessageBus {
    /// The IDs of the messages whose handlers wait for the calling code to end.
    ///
    /// Code that could wait for itself, and so never continue, checks this set.
    package static var waitingMessages: Set<CorrelationID> { DeliveryContext.waiting?.messages ?? [] }

    /// Runs code as the handler of a message whose ID the code receives, with the isolation of the caller.
    ///
    /// Within the code, ``waitingMessages`` contains the ID of the message.
    package nonisolated(nonsending) func withMessageID<Result>(
        _ body: (CorrelationID) async throws -> Result
    ) async rethrows -> Result {
        let outer = DeliveryContext.waiting
        let id = self.core.statistics.nextID()
        let record = ContextRecord(
            hops: outer?.hops ?? DeliveryContext.current?.hops ?? 0,
            expiry: outer?.expiry ?? .never,
            id: id,
            exchange: outer?.exchanges.first,
            outer: outer
        )
        return try await DeliveryContext.run(in: DeliveryContext(record), isolation: #isolation) {
            try await body(id)
        }
    }

    /// A second handle for objects that the bus retains; this handle does not keep the bus open.
    package var unowned: MessageBus { MessageBus(sharing: self.core) }
}
