public import WaybillEventLoop

/// The code that a handler runs.
@usableFromInline
enum HandlerCode: Sendable {
    /// Code that cannot suspend, which the bus calls like a function when it is the message's turn.
    case synchronous(any SynchronousCode)
    /// Code that may suspend, which runs in its own task so that its caller can resume at any time.
    case suspending(any SuspendingCode)

    var synchronous: (any SynchronousCode)? { if case .synchronous(let code) = self { code } else { nil } }

    /// The type of the values that the code returns; nil when the type is not known.
    var replyType: (any Any.Type)? {
        switch self {
        case .synchronous(let code): code.replyType
        case .suspending(let code): code.replyType
        }
    }
}

/// Code of a handler that cannot suspend, for callers that do not know the type of its value.
@usableFromInline
protocol SynchronousCode: AnyObject, Sendable {
    func callBoxed(_ message: Message) throws -> any Sendable

    var replyType: (any Any.Type)? { get }
}

/// Code of a handler that may suspend.
@usableFromInline
protocol SuspendingCode: AnyObject, Sendable {
    /// The actor that isolates the code, and that must also isolate the task that runs the code.
    var isolation: any LoopBound { get }

    var replyType: (any Any.Type)? { get }

    /// Runs the code in the calling task, which is isolated to ``isolation``.
    nonisolated(nonsending) func run(_ message: Message) async throws -> any Sendable
}

/// Code of an actor that must be called on the actor's loop only.
@usableFromInline
struct IsolatedBody<Module: LoopBound, Value: ~Copyable>: Sendable {
    @usableFromInline let body: @Sendable (isolated Module, Message) throws -> Value

    /// The closure `body`, with `isolated` erased from its type.
    @usableFromInline
    struct Unchecked: Sendable {
        @usableFromInline let body: @Sendable (Module, Message) throws -> Value
    }

    @inlinable
    init(_ body: @escaping @Sendable (isolated Module, Message) throws -> Value) { self.body = body }

    /// Returns the code as a function that must be called on the actor's loop.
    @unsafe
    @inlinable
    func unisolated(_ module: Module) -> @Sendable (Message) throws -> Value {
        // The compiler passes an isolated parameter like any other parameter, so the cast is safe. The cast
        // is between structures that contain the functions. A cast between the function types would add a
        // conversion function that every message calls.
        let unchecked = unsafe unsafeBitCast(self, to: Unchecked.self)
        return { message in
            assert(
                module.eventLoop.isInEventLoop,
                "internal error: the handler was called outside of the event loop of its actor"
            )
            return try unchecked.body(module, message)
        }
    }
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

    var isolation: any LoopBound { self.mailbox }

    nonisolated(nonsending) func run(_ message: Message) async throws -> any Sendable {
        try await self.mailbox.run(message, self.body)
    }
}

/// Code of an actor that may suspend.
@usableFromInline
final class ActorCode<Module: LoopBound, Value: Sendable>: SuspendingCode {
    private let module: Module
    private let body: @Sendable (isolated Module, Message) async throws -> Value

    @usableFromInline
    init(_ module: Module, _ body: @escaping @Sendable (isolated Module, Message) async throws -> Value) {
        self.module = module
        self.body = body
    }

    @usableFromInline var isolation: any LoopBound { self.module }

    @usableFromInline var replyType: (any Any.Type)? { Value.self }

    @usableFromInline
    nonisolated(nonsending) func run(_ message: Message) async throws -> any Sendable {
        try await self.body(self.module, message)
    }
}
