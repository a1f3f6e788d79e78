/// A value that only the thread of one loop touches, for code that is on that thread already and cannot suspend.
///
/// An actor bound to the loop protects its state as well, and is the better choice wherever its methods can be awaited.
/// This is for what happens with every message: no lock, no check in release builds, no isolation to cross.
@safe
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
    package var value: Value {
        @inline(__always)
        get {
            assert(self.eventLoop.isInEventLoop, "the value belongs to the loop's thread")
            return unsafe self.pointer.pointee
        }
        @inline(__always)
        nonmutating set {
            assert(self.eventLoop.isInEventLoop, "the value belongs to the loop's thread")
            unsafe self.pointer.pointee = newValue
        }
    }
}

// The loop's thread alone touches the value, by the contract of `value`; the last reference gone, whoever drops it.
extension LoopLocal: @unchecked Sendable {}
