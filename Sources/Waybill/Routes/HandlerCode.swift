public import WaybillEventLoop

/// What a handler runs: code that answers at once, code that may suspend, or nothing.
@usableFromInline
struct HandlerCode: Sendable {
    /// It is called in place, in the caller's task, and without a hop if the caller is on the same loop.
    let immediate: any ImmediateCode

    /// The same for callers that know the type of its answer: an ``ImmediateBody``.
    @usableFromInline let object: UnretainedObject

    /// Whether it is called in place; if not, there is only something that stands for such code.
    let isImmediate: Bool

    /// It runs in a task of its own, so that its caller can be freed at any time.
    let suspending: (any SuspendingCode)?

    /// Whether there is such code; asking for the code itself would count it.
    let maySuspend: Bool

    /// Nothing that could be called.
    static let none = Self(NoCode.shared, isImmediate: false)

    /// The type of what it returns; nil if it is not known.
    var replyType: (any Any.Type)? { self.suspending?.replyType ?? self.immediate.replyType }

    /// Code that answers at once.
    @usableFromInline
    init(immediate: any ImmediateCode) { self.init(immediate, isImmediate: true) }

    /// Code that may suspend.
    @usableFromInline
    init(suspending: any SuspendingCode) { self.init(NoCode.shared, isImmediate: false, suspending) }

    private init(
        _ immediate: any ImmediateCode,
        isImmediate: Bool,
        _ suspending: (any SuspendingCode)? = nil
    ) {
        self.immediate = immediate
        self.object = UnretainedObject(immediate)
        self.isImmediate = isImmediate
        self.suspending = suspending
        self.maySuspend = suspending != nil
    }
}

/// Stands for the code of a handler that is never called in place; an optional would be copied, and counted,
/// to be called.
private final class NoCode: ImmediateCode {
    static let shared = NoCode()

    var replyType: (any Any.Type)? { nil }

    func callBoxed(_ message: Message) throws -> any Sendable {
        preconditionFailure("only a handler that cannot suspend is called in place")
    }
}

/// Code of a handler that answers at once, with the type of its answer.
///
/// A caller that asks for that type calls it directly, and the value is neither boxed nor cast on its way.
@usableFromInline
final class ImmediateBody<Value: Sendable>: ImmediateCode {
    @usableFromInline let body: @Sendable (Message) throws -> Value

    @inlinable
    init(_ body: @escaping @Sendable (Message) throws -> Value) { self.body = body }

    @usableFromInline var replyType: (any Any.Type)? { Value.self }

    @inlinable
    @inline(__always)
    func call(_ message: Message) throws -> Value { try self.body(message) }

    @usableFromInline
    func callBoxed(_ message: Message) throws -> any Sendable { try self.body(message) }
}

/// Code of an actor that is called on the actor's loop only.
@usableFromInline
struct IsolatedBody<Module: LoopBound, Value: ~Copyable>: Sendable {
    @usableFromInline let body: @Sendable (isolated Module, Message) throws -> Value

    /// The same, without the word that the compiler checks.
    @usableFromInline
    struct Unchecked: Sendable {
        @usableFromInline let body: @Sendable (Module, Message) throws -> Value
    }

    @inlinable
    init(_ body: @escaping @Sendable (isolated Module, Message) throws -> Value) { self.body = body }

    /// The code for an actor, which must be called on the actor's loop.
    @unsafe
    @inlinable
    @inline(__always)
    func unisolated(_ module: Module) -> @Sendable (Message) throws -> Value {
        // An isolated parameter is passed like any other. The functions are cast in a structure: by themselves
        // they would be converted for it, each by a function that is called with every message.
        let unchecked = unsafe unsafeBitCast(self, to: Unchecked.self)
        return { message in
            assert(module.eventLoop.isInEventLoop, "not on the event loop of the actor")
            return try unchecked.body(module, message)
        }
    }
}

/// Code of a handler that answers at once, for callers that do not know the type of its answer.
@usableFromInline
protocol ImmediateCode: AnyObject, Sendable {
    /// Calls it, and puts its value into a box.
    func callBoxed(_ message: Message) throws -> any Sendable

    /// The type of its value; nil if it is not known.
    var replyType: (any Any.Type)? { get }
}

/// Code of a handler that may suspend.
@usableFromInline
protocol SuspendingCode: AnyObject, Sendable {
    /// Runs it in a new task, up to where it first suspends within this call; for the thread of the mailbox's
    /// loop.
    ///
    /// - Parameter exchange: has the message, which the task takes from it.
    /// - Returns: the task.
    func start(_ exchange: Exchange) -> HandlerTask

    /// Runs it in a new task, which inherits from the calling code and waits in the mailbox; for any thread.
    ///
    /// - Parameter queued: the message, in the queue of the mailbox.
    /// - Returns: the task.
    func start(_ queued: QueuedTask) -> HandlerTask

    /// Runs it in the calling task, which is on the mailbox's loop.
    func run(_ message: Message, isolation: isolated any Actor) async throws -> any Sendable

    /// The type of its value; nil if it is not known.
    var replyType: (any Any.Type)? { get }
}

/// A closure that may suspend, which runs on the loop of its mailbox.
final class SuspendingClosure: SuspendingCode {
    private let body: @Sendable (Message) async throws -> any Sendable
    private let mailbox: Mailbox
    let replyType: (any Any.Type)?

    init(
        _ body: @escaping @Sendable (Message) async throws -> any Sendable,
        replying replyType: (any Any.Type)?,
        in mailbox: Mailbox
    ) {
        self.body = body
        self.replyType = replyType
        self.mailbox = mailbox
    }

    func start(_ exchange: Exchange) -> HandlerTask {
        self.mailbox.assumeOnLoop { self.launch(exchange, in: $0) }
    }

    private func launch(_ exchange: Exchange, in mailbox: isolated Mailbox) -> HandlerTask {
        var task: HandlerTask?
        for _ in 0..<once() {
            task = Task.immediate {
                // Captured, the parameter isolates the task to the mailbox.
                _ = mailbox
                let delivery = exchange.takeDelivery()
                await self.perform(exchange, delivery.message, delivery.handler, in: mailbox)
            }
        }
        guard let task else { preconditionFailure("the loop has one turn") }
        return task
    }

    @inline(__always)
    private func perform(
        _ exchange: Exchange,
        _ message: Message,
        _ handler: Handler,
        in mailbox: isolated Mailbox
    ) async {
        // It is in the exchange's context until `finish`, and binds nothing itself.
        unsafe exchange.enter()
        var outcome: Outcome?
        var isReply = true
        do {
            outcome = .replied(try await mailbox.run(message, self.body))
        } catch {
            outcome = handler.outcome(of: error, message)
            isReply = false
        }
        unsafe exchange.finish(leaving: &outcome, isReply: isReply, of: message, by: handler)
    }

    func start(_ queued: QueuedTask) -> HandlerTask {
        QueuedTask.unisolated { queued in
            Task {
                guard let exchange = queued.begin() else { return }
                await self.perform(exchange, queued.message, queued.handler, in: self.mailbox)
            }
        }(queued)
    }

    func run(_ message: Message, isolation: isolated any Actor) async throws -> any Sendable {
        try await self.mailbox.run(message, self.body)
    }
}

// Inlined into the program, where the types of actor and value are known: the code of a task that is generic
// over its isolation takes a third more. So it says again what `SuspendingClosure` says.
/// Code of an actor that may suspend.
@usableFromInline
final class ActorCode<Module: LoopBound, Value: Sendable>: SuspendingCode {
    @usableFromInline let module: Module
    @usableFromInline let body: @Sendable (isolated Module, Message) async throws -> Value
    @usableFromInline let launch: @Sendable (Exchange) -> HandlerTask
    @usableFromInline let queue: @Sendable (QueuedTask) -> HandlerTask
    @usableFromInline var replyType: (any Any.Type)? { Value.self }

    @inlinable
    init(_ module: Module, _ body: @escaping @Sendable (isolated Module, Message) async throws -> Value) {
        self.module = module
        self.body = body
        // It is called on the loop of the mailbox only, which is the actor's.
        self.launch = unsafe module.unisolatedUnchecked { Self.launch($1, body, on: $0) }
        self.queue = QueuedTask.unisolated { queued in
            // It captures nothing else: the threads of the caller and of the handler would take turns in
            // counting what it holds.
            Task {
                guard let exchange = queued.begin() else { return }
                let code = unsafe queued.code(as: Self.self)
                await Self.perform(exchange, queued.message, queued.handler, code.body, on: code.module)
            }
        }
    }

    @inlinable
    func start(_ exchange: Exchange) -> HandlerTask { self.launch(exchange) }

    /// Starts a task that is isolated to the actor from its beginning: each change of isolation takes a tenth
    /// of the task, even on the same loop.
    @inlinable
    static func launch(
        _ exchange: Exchange,
        _ body: @escaping @Sendable (isolated Module, Message) async throws -> Value,
        on module: isolated Module
    ) -> HandlerTask {
        var task: HandlerTask?
        for _ in 0..<once() {
            task = Task.immediate {
                let delivery = exchange.takeDelivery()
                await Self.perform(exchange, delivery.message, delivery.handler, body, on: module)
            }
        }
        guard let task else { preconditionFailure("the loop has one turn") }
        return task
    }

    @inlinable
    @inline(__always)
    static func perform(
        _ exchange: Exchange,
        _ message: Message,
        _ handler: Handler,
        _ body: @escaping @Sendable (isolated Module, Message) async throws -> Value,
        on module: isolated Module
    ) async {
        assert(handler.isOnLoop, "`eventLoop` of \(Module.self) has changed since it was registered")
        // It is in the exchange's context until `finish`, and binds nothing itself.
        unsafe exchange.enter()
        var outcome: Outcome?
        var isReply = true
        do {
            outcome = .replied(try await body(module, message))
        } catch {
            outcome = handler.outcome(of: error, message)
            isReply = false
        }
        unsafe exchange.finish(leaving: &outcome, isReply: isReply, of: message, by: handler)
    }

    @inlinable
    func start(_ queued: QueuedTask) -> HandlerTask { self.queue(queued) }

    @usableFromInline
    func run(_ message: Message, isolation: isolated any Actor) async throws -> any Sendable {
        try await self.body(self.module, message)
    }
}
