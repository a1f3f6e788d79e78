/// A reference to an object whose type only its reader knows, and that somebody else holds for as long as this is used.
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
    /// - Returns: what the closure returned; nil if the object is of another class, and the closure was not run.
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
