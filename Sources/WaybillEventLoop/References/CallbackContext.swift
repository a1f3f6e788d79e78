/// Objects as the untyped pointers that C code stores and passes back to callbacks.
@safe
package enum CallbackContext {
    /// Returns a pointer that does not keep the object alive.
    ///
    /// The caller must keep the object alive as long as C code uses the pointer.
    package static func borrowing(_ object: AnyObject) -> UnsafeMutableRawPointer {
        unsafe Unmanaged.passUnretained(object).toOpaque()
    }

    /// Returns a pointer that keeps the object alive until ``take(_:as:)`` ends the reference.
    package static func retaining(_ object: AnyObject) -> UnsafeMutableRawPointer {
        unsafe Unmanaged.passRetained(object).toOpaque()
    }

    /// Returns the object of a pointer.
    ///
    /// The object must be alive, and must have the type.
    @unsafe
    package static func object<Object: AnyObject>(
        of pointer: UnsafeMutableRawPointer,
        as type: Object.Type = Object.self
    ) -> Object {
        unsafe Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Returns the object of a pointer that ``retaining(_:)`` has returned, and ends the reference of the
    /// pointer.
    ///
    /// No code may use the pointer afterwards. The object must have the type.
    @unsafe
    @discardableResult
    package static func take<Object: AnyObject>(
        _ pointer: UnsafeMutableRawPointer,
        as type: Object.Type = Object.self
    ) -> Object {
        unsafe Unmanaged<Object>.fromOpaque(pointer).takeRetainedValue()
    }
}
