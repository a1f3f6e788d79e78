/// Returns the value of a box if its type is exactly `type`; nil if it may need a conversion.
///
/// `as?` calls the runtime, which takes as long as all other steps of a value's delivery together.
@inlinable
@inline(__always)
package func unbox<Value: Sendable>(_ box: any Sendable, as type: Value.Type) -> Value? {
    func open<Boxed: Sendable>(_ value: Boxed) -> Value? {
        guard Boxed.self == Value.self else { return nil }
        // The two types are equal, but the compiler cannot know it.
        return unsafe unsafeBitCast(value, to: Value.self)
    }
    return open(box)
}
