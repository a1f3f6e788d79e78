/// A reference to an object that somebody else holds for as long as this is used.
///
/// Handing an object down through asynchronous calls counts a reference for each of them; this counts none.
@safe
@usableFromInline
package struct Unretained<Object: AnyObject & Sendable>: Sendable {
    @usableFromInline let reference: Unmanaged<Object>

    /// Names an object.
    @inlinable
    package init(_ object: Object) { unsafe self.reference = .passUnretained(object) }

    /// The object, held by whoever asks.
    @inlinable package var object: Object { unsafe self.reference.takeUnretainedValue() }

    /// Runs a closure with the object, which is not retained meanwhile.
    @inlinable
    @inline(__always)
    package func with<Result>(_ body: (Object) -> Result) -> Result {
        unsafe self.reference._withUnsafeGuaranteedRef(body)
    }

    /// The same for a closure that may fail.
    @inlinable
    @inline(__always)
    package func withThrowing<Result, Failure: Error>(
        _ body: (Object) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Its way with the object knows no types of errors.
        var failure: Failure?
        let result: Result? = unsafe self.reference._withUnsafeGuaranteedRef { object in
            do throws(Failure) { return try body(object) } catch { failure = error }
            return nil
        }
        if let result { return result }
        if let failure { throw failure }
        preconditionFailure("neither a result nor an error")
    }
}
