internal import Synchronization
internal import WaybillEventLoop

/// What a route made inside a handler inherits from the message that is being handled.
struct DeliveryContext: Sendable {
    private let source: any ContextSource

    /// The context of a handler that may suspend: the exchange with the caller of its message.
    static func exchange(_ exchange: Exchange) -> Self { Self(source: exchange) }

    /// The context of other code that a message has led to.
    static func record(_ record: ContextRecord) -> Self { Self(source: record) }

    /// How many routes led to the message.
    var hops: Int { self.source.hops }

    /// When its caller stops waiting.
    var expiry: Deadline { self.source.expiry }

    /// Which message it is, if its handler may suspend.
    var id: CorrelationID? { self.source.message }

    /// The context of the handler that waits for the message, if a handler does.
    var outer: DeliveryContext? { self.source.caller }

    private var object: ObjectIdentifier { ObjectIdentifier(self.source) }

    /// What the calling task has inherited.
    @TaskLocal private static var task = Inherited(context: nil)

    /// A context as a task-local value: the runtime copies an optional by its type, which takes as long as
    /// finding it, and a type of this module by a function that the compiler has written.
    struct Inherited: Sendable {
        fileprivate let context: DeliveryContext?
    }

    /// Where a handler's task finds the context.
    static var local: TaskLocal<Inherited> { self.$task }

    /// The context as what a task inherits.
    var inherited: Inherited { Inherited(context: self) }

    /// Runs code in a context.
    static func with<Result>(
        _ context: DeliveryContext,
        _ body: () throws -> Result
    ) rethrows -> Result {
        try self.$task.withValue(context.inherited) { try body() }
    }

    /// The context of the calling code: of the handler that it is part of, or, in the body of a loop over the
    /// replies to a message, of the handler that has sent the reply and waits for the loop to come back.
    static var current: DeliveryContext? {
        let inherited = self.task.context
        return ReplyReaders.context(inside: inherited) ?? inherited
    }

    /// The context of the handler that waits for the calling code to end, if one does.
    ///
    /// A task that a handler makes by `Task { }` has the handler's context and may outlive the handler, which
    /// does not wait for it: what it routes is no part of the handler. Its own `async let` is taken for one
    /// of the handler's.
    static var waiting: DeliveryContext? {
        guard let context = self.current else { return nil }
        return context.source.task == CurrentTask.id || CurrentTask.isChild ? context : nil
    }

    /// The same context for the calling task: its code answers the handler, which waits for that.
    func adopted() -> DeliveryContext {
        .record(
            ContextRecord(
                hops: self.hops,
                expiry: self.expiry,
                id: self.id,
                exchange: self.source.counted,
                outer: self.outer
            )
        )
    }

    /// Whether this is a context, or the context of something that waits inside of it.
    func isInside(_ context: DeliveryContext) -> Bool {
        var next: DeliveryContext? = self
        while let inner = next {
            if inner.object == context.object { return true }
            next = inner.outer
        }
        return false
    }

    /// Runs a caller's code for one of a handler's replies, in the handler's context and where the caller is
    /// isolated.
    ///
    /// A function that is `nonisolated(nonsending)` has to hand its isolation over: the default would be nil.
    static func with<Result>(
        _ context: DeliveryContext?,
        isolation: isolated (any Actor)?,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard let context else { return try await body() }
        return try await Self.$task.withValue(context.adopted().inherited) {
            // Captured, the parameter isolates the closure to the caller.
            _ = isolation
            return try await body()
        }
    }

    /// The messages of this context: their handlers wait for what happens in it.
    var messages: Set<CorrelationID> {
        var ids: Set<CorrelationID> = []
        var context: DeliveryContext? = self
        while let inner = context {
            if let id = inner.id { ids.insert(id) }
            context = inner.outer
        }
        return ids
    }

    /// The exchanges of those messages, innermost first.
    var exchanges: [Exchange] {
        var exchanges: [Exchange] = []
        var context: DeliveryContext? = self
        while let inner = context {
            if let exchange = inner.source.counted, !exchanges.contains(where: { $0 === exchange }) {
                exchanges.append(exchange)
            }
            context = inner.outer
        }
        return exchanges
    }
}

/// What a context says.
private protocol ContextSource: AnyObject, Sendable {
    var hops: Int { get }
    var expiry: Deadline { get }
    /// Which message it is, if its handler may suspend.
    var message: CorrelationID? { get }
    /// The exchange of that message, if it is known.
    var counted: Exchange? { get }
    /// The context of the handler that waits, if a handler does.
    var caller: DeliveryContext? { get }
    /// The task whose code it is, as ``CurrentTask`` numbers it.
    var task: UInt { get }
}

extension Exchange: ContextSource {
    fileprivate var message: CorrelationID? { self.id }
    fileprivate var counted: Exchange? { self }
}

/// The context of code that no exchange stands for alone.
final class ContextRecord: ContextSource {
    let hops: Int
    let expiry: Deadline
    /// Which message it is, if its handler may suspend.
    fileprivate let message: CorrelationID?
    /// The exchange of that message, if the context is that of its caller's code.
    fileprivate let counted: Exchange?
    /// The context of the handler that waits, if a handler does.
    let caller: DeliveryContext?
    /// The task whose code it is.
    let task = CurrentTask.id

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
        self.caller = outer
    }

    /// The context of a message that is given to a handler in the task of its caller.
    convenience init(_ message: Message, inside outer: DeliveryContext?) {
        self.init(hops: message.hops, expiry: message.expiry, id: message.id, outer: outer)
    }
}
