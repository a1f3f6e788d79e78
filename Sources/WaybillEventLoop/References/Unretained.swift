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

/// A reference to an object whose type only its reader knows, and that somebody else holds for as long as
/// this is used.
///
/// It counts no references, as ``Unretained`` does not. A cast would: it retains what it casts.
@safe
@usableFromInline
package struct UnretainedObject {
    @usableFromInline let reference: Unmanaged<AnyObject>

    /// Names an object.
    @inlinable
    package init(_ object: any AnyObject & Sendable) { unsafe self.reference = .passUnretained(object) }

    /// Runs a closure with the object, which was made as one of this class; it is not retained meanwhile.
    @inlinable
    @inline(__always)
    package func assume<Object: AnyObject, Result>(_ type: Object.Type, _ body: (Object) -> Result) -> Result
    {
        unsafe self.reference._withUnsafeGuaranteedRef { body(unsafe unsafeDowncast($0, to: type)) }
    }

    /// Runs a closure with the object, if it is of exactly this class; it is not retained meanwhile.
    ///
    /// - Returns: what the closure returned; nil if the object is of another class, and the closure was not
    ///   run.
    @inlinable
    @inline(__always)
    package func with<Object: AnyObject, Result>(
        as type: Object.Type,
        _ body: (Object) throws -> Result
    ) rethrows -> Result? {
        try unsafe self.reference._withUnsafeGuaranteedRef { object in
            guard ObjectIdentifier(Swift.type(of: object)) == ObjectIdentifier(type) else { return nil }
            return try body(unsafe unsafeDowncast(object, to: type))
        }
    }
}

// The object is Sendable, as whoever makes this has to prove.
extension UnretainedObject: @unchecked Sendable {}

extension Array where Element: AnyObject {
    /// Runs a closure with an element, which is not retained meanwhile.
    ///
    /// For code that goes through many objects and does little with each. The caller must hold the array
    /// until the closure has returned.
    @inlinable
    @inline(__always)
    package func withUnretained<State, Result>(
        at index: Int,
        _ state: inout State,
        _ body: (Element, inout State) -> Result
    ) -> Result {
        unsafe self.withUnsafeBufferPointer { elements in
            unsafe Unmanaged.passUnretained(elements[index])._withUnsafeGuaranteedRef { body($0, &state) }
        }
    }
}
