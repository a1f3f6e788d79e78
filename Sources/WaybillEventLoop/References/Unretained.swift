/// A reference that does not keep its object alive.
///
/// Use it to pass an object down through calls that happen with every message: a strong reference is counted
/// in each of them, this one in none. To make one and to copy it is harmless. Each access is `unsafe`, and
/// its proof names the reference that keeps the object alive until the access has ended.
@safe
@usableFromInline
package struct Unretained<Object: AnyObject & Sendable>: Sendable {
    @usableFromInline let reference: Unmanaged<Object>

    /// Refers to an object.
    @inlinable
    package init(_ object: Object) { unsafe self.reference = .passUnretained(object) }

    /// The object, retained; it must be alive at this moment.
    @unsafe
    @inlinable
    package var unsafeObject: Object { unsafe self.reference.takeUnretainedValue() }

    /// Runs a closure with the object without retaining it; the object must be alive until the closure has
    /// returned.
    @unsafe
    @inlinable
    @inline(__always)
    package func withUnsafeObject<Result>(_ body: (Object) -> Result) -> Result {
        unsafe self.reference._withUnsafeGuaranteedRef(body)
    }
}
