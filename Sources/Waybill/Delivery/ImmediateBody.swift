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
