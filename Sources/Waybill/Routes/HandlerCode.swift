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
    let suspending: (@Sendable (Message) async throws -> any Sendable)?

    /// Nothing that could be called.
    static let none = Self(NoCode.shared, isImmediate: false)

    /// Code that answers at once.
    init<Value: Sendable>(immediate: @escaping @Sendable (Message) throws -> Value) {
        self.init(ImmediateBody(immediate), isImmediate: true)
    }

    /// Code that may suspend.
    init(suspending: @escaping @Sendable (Message) async throws -> any Sendable) {
        self.init(NoCode.shared, isImmediate: false, suspending)
    }

    private init(
        _ immediate: any ImmediateCode,
        isImmediate: Bool,
        _ suspending: (@Sendable (Message) async throws -> any Sendable)? = nil
    ) {
        self.immediate = immediate
        self.object = UnretainedObject(immediate)
        self.isImmediate = isImmediate
        self.suspending = suspending
    }
}

/// Stands for the code of a handler that is never called in place; an optional would be copied, and counted,
/// to be called.
private final class NoCode: ImmediateCode {
    static let shared = NoCode()

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

    init(_ body: @escaping @Sendable (Message) throws -> Value) { self.body = body }

    @inlinable
    @inline(__always)
    func call(_ message: Message) throws -> Value { try self.body(message) }

    func callBoxed(_ message: Message) throws -> any Sendable { try self.body(message) }
}

/// Code of a handler that answers at once, for callers that do not know the type of its answer.
protocol ImmediateCode: AnyObject, Sendable {
    /// Calls it, and puts its value into a box.
    func callBoxed(_ message: Message) throws -> any Sendable
}
