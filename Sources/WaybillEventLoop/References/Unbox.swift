/// A value out of its box, if it is of exactly this type; nil if it may have to be converted.
///
/// `as?` asks the runtime, which takes as long as everything else that a value goes through on its way.
@inlinable
@inline(__always)
package func unbox<Value: Sendable>(_ box: any Sendable, as type: Value.Type) -> Value? {
    func open<Boxed: Sendable>(_ value: Boxed) -> Value? {
        guard Boxed.self == Value.self else { return nil }
        // The two are one type, which the compiler does not know.
        return unsafe unsafeBitCast(value, to: Value.self)
    }
    return open(box)
}
