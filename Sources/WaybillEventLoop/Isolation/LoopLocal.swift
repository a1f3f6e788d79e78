/// A value that only the thread of one loop touches, for code that is on that thread already and cannot
/// suspend.
///
/// An actor bound to the loop protects its state as well, and is the better choice wherever its methods can
/// be awaited. This is for what happens with every message: no lock, no check in release builds, no isolation
/// to cross.
@safe
@usableFromInline
package struct LoopLocal<Value: Sendable>: ~Copyable {
    @usableFromInline let eventLoop: EventLoop
    @usableFromInline let pointer: UnsafeMutablePointer<Value>

    /// Gives a value to a loop.
    package init(_ value: Value, on eventLoop: EventLoop) {
        self.eventLoop = eventLoop
        unsafe self.pointer = .allocate(capacity: 1)
        unsafe self.pointer.initialize(to: value)
    }

    deinit {
        unsafe self.pointer.deinitialize(count: 1)
        unsafe self.pointer.deallocate()
    }

    /// The value; the caller is on the loop's thread.
    @inlinable
    @inline(__always)
    package func load() -> Value {
        assert(self.eventLoop.isInEventLoop, "the value belongs to the loop's thread")
        return unsafe self.pointer.pointee
    }

    /// Sets the value; the caller is on the loop's thread.
    @inlinable
    @inline(__always)
    package func store(_ value: Value) {
        assert(self.eventLoop.isInEventLoop, "the value belongs to the loop's thread")
        unsafe self.pointer.pointee = value
    }
}

extension LoopLocal where Value: AnyObject {
    /// Runs a closure with the object, which is not retained meanwhile; the caller is on the loop's thread.
    ///
    /// The value's own reference is the only one that is certain: after a ``store(_:)`` that the closure
    /// leads to, the closure must not use it.
    @inlinable
    @inline(__always)
    package func withUnretained<Result>(_ body: (Value) -> Result) -> Result {
        assert(self.eventLoop.isInEventLoop, "the value belongs to the loop's thread")
        return unsafe Unmanaged.passUnretained(self.pointer.pointee)._withUnsafeGuaranteedRef(body)
    }

    /// The same for a closure that may fail.
    @inlinable
    @inline(__always)
    package func withUnretainedThrowing<Result, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        assert(self.eventLoop.isInEventLoop, "the value belongs to the loop's thread")
        var failure: Failure?
        let result: Result? = unsafe Unmanaged.passUnretained(self.pointer.pointee)._withUnsafeGuaranteedRef {
            object in
            do throws(Failure) { return try body(object) } catch { failure = error }
            return nil
        }
        if let result { return result }
        if let failure { throw failure }
        preconditionFailure("neither a result nor an error")
    }
}

// The loop's thread alone touches the value, by the contract of `load` and `store`; the last reference gone,
// whoever drops it.
extension LoopLocal: @unchecked Sendable {}
