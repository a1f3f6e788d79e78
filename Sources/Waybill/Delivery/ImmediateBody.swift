/// Code of a handler that answers at once, with the type of its answer.
///
/// A caller that asks for that type calls it directly, and the value is neither boxed nor cast on its way.
@usableFromInline
final class ImmediateBody<Value: Sendable>: Sendable {
    @usableFromInline let body: @Sendable (Message) throws -> Value

    init(_ body: @escaping @Sendable (Message) throws -> Value) { self.body = body }

    @inlinable
    @inline(__always)
    func call(_ message: Message) throws -> Value { try self.body(message) }
}
