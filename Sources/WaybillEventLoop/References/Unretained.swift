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

    /// Runs a throwing closure as ``withUnsafeObject(_:)`` does, under the same condition.
    @unsafe
    @inlinable
    @inline(__always)
    package func withUnsafeObjectThrowing<Result, Failure: Error>(
        _ body: (Object) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // `_withUnsafeGuaranteedRef` knows no typed errors.
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

/// A reference that neither keeps its object alive nor knows the object's class.
///
/// It counts no references, as ``Unretained`` does not; a cast would retain the object. Each access is
/// `unsafe`, and its proof names the reference that keeps the object alive and, for the unchecked form, the
/// place that fixed the class.
@safe
@usableFromInline
package struct UnretainedObject {
    @usableFromInline let reference: Unmanaged<AnyObject>

    /// Refers to an object.
    @inlinable
    package init(_ object: any AnyObject & Sendable) { unsafe self.reference = .passUnretained(object) }

    /// Runs a closure with the object without retaining it.
    ///
    /// The object must be alive until the closure has returned. Its class is checked.
    ///
    /// - Returns: The result of the closure; nil if the object is not of exactly this class, and the closure
    ///   did not run.
    @unsafe
    @inlinable
    @inline(__always)
    package func withUnsafeObject<Object: AnyObject, Result>(
        as type: Object.Type,
        _ body: (Object) throws -> Result
    ) rethrows -> Result? {
        try unsafe self.reference._withUnsafeGuaranteedRef { object in
            guard ObjectIdentifier(Swift.type(of: object)) == ObjectIdentifier(type) else { return nil }
            return try body(unsafe unsafeDowncast(object, to: type))
        }
    }

    /// Runs a closure with the object without retaining it and without checking its class.
    ///
    /// The object must be alive until the closure has returned, and of this class.
    @unsafe
    @inlinable
    @inline(__always)
    package func withUnsafeObject<Object: AnyObject, Result>(
        assumedToBe type: Object.Type,
        _ body: (Object) -> Result
    ) -> Result {
        unsafe self.reference._withUnsafeGuaranteedRef { body(unsafe unsafeDowncast($0, to: type)) }
    }
}

// The object is Sendable: `init` demands it.
extension UnretainedObject: @unchecked Sendable {}

extension Array where Element: AnyObject {
    /// Runs a closure with an element without retaining it, for loops over many objects.
    ///
    /// The array itself is retained until the closure has returned, and so are its elements.
    @inlinable
    @inline(__always)
    package func withUnretained<State, Result>(
        at index: Int,
        _ state: inout State,
        _ body: (Element, inout State) -> Result
    ) -> Result {
        // The buffer keeps the array, and with it the element, until the closure has returned.
        unsafe self.withUnsafeBufferPointer { elements in
            unsafe Unmanaged.passUnretained(elements[index])._withUnsafeGuaranteedRef { body($0, &state) }
        }
    }
}
