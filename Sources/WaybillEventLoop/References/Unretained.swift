/// A reference that does not keep its object alive.
///
/// Use this type to pass an object down through the calls for each message. With a strong reference, each
/// call would retain and release the object. Creating and copying an `Unretained` is harmless. Each access is
/// `unsafe`, and a comment beside the access names the reference that keeps the object alive until the access
/// has ended.
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
