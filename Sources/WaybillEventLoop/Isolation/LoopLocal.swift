/// A value that only the thread of one loop accesses.
///
/// This type is for code that is already on that thread and cannot suspend, such as a read for every message.
/// It has no lock, and a caller does not change its isolation. If callers can await a method, use an actor
/// that is bound to the loop instead.
@safe
@usableFromInline
package struct LoopLocal<Value: Sendable>: ~Copyable {
    @usableFromInline let heldLoop: HeldEventLoop
    @usableFromInline let pointer: UnsafeMutablePointer<Value>

    /// Creates a value that is confined to the thread of a loop.
    package init(_ value: Value, on eventLoop: EventLoop) {
        self.heldLoop = HeldEventLoop(eventLoop)
        unsafe self.pointer = .allocate(capacity: 1)
        unsafe self.pointer.initialize(to: value)
    }

    deinit {
        unsafe self.pointer.deinitialize(count: 1)
        unsafe self.pointer.deallocate()
    }

    /// Returns the value; traps unless the calling thread runs the loop.
    @inlinable
    @inline(__always)
    package func load() -> Value {
        precondition(
            self.heldLoop.isInEventLoop,
            "internal error: a value of a loop was used on another thread"
        )
        return unsafe self.pointer.pointee
    }

    /// Sets the value; traps unless the calling thread runs the loop.
    @inlinable
    @inline(__always)
    package func store(_ value: Value) { _ = self.exchange(value) }

    /// Sets the value, and returns the previous value; traps unless the calling thread runs the loop.
    ///
    /// The previous value is released after the new value has been set, so a deinitializer in the previous
    /// value may use this value.
    @inlinable
    @inline(__always)
    package func exchange(_ value: Value) -> Value {
        precondition(
            self.heldLoop.isInEventLoop,
            "internal error: a value of a loop was used on another thread"
        )
        let previous = unsafe self.pointer.move()
        unsafe self.pointer.initialize(to: value)
        // If the caller ignores the result, the optimizer would otherwise release it before the new value is
        // set.
        withExtendedLifetime(previous) {}
        return previous
    }
}

// Only the loop's thread reads and writes the value, and `deinit` runs when no other reference is left.
extension LoopLocal: @unchecked Sendable {}
