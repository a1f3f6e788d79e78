/// A value that only the thread of one loop accesses, for code that is on that thread already and cannot
/// suspend.
///
/// An actor that is bound to the loop also protects its state, and is the better choice if callers can await
/// its methods. This type is for reads that happen with every message: it has no lock, and a caller does not
/// change its isolation.
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
    package func store(_ value: Value) {
        precondition(
            self.heldLoop.isInEventLoop,
            "internal error: a value of a loop was used on another thread"
        )
        unsafe self.pointer.pointee = value
    }
}

// Only the loop's thread reads and writes the value, and `deinit` runs when no other reference is left.
extension LoopLocal: @unchecked Sendable {}
