/// A reference that does not keep its object alive.
///
/// Use it to pass an object down through calls that happen with every message. Each of those calls would
/// count a strong reference, and none counts this one. Creating and copying it is harmless. Each access is
/// `unsafe`, and its proof names the reference that keeps the object alive until the access has ended.
@safe
@usableFromInline
package struct Unretained<Object: AnyObject & Sendable>: Sendable {
    @usableFromInline let reference: Unmanaged<Object>

    /// Creates a reference to an object.
    @inlinable
    package init(_ object: Object) { unsafe self.reference = .passUnretained(object) }

    /// Calls a closure with the object, without retaining it.
    ///
    /// The object must be alive until the closure has returned.
    @unsafe
    @inlinable
    @inline(__always)
    package func withUnsafeObject<Result>(_ body: (Object) -> Result) -> Result {
        unsafe self.reference._withUnsafeGuaranteedRef(body)
    }
}
