internal import CLibUV

/// The way from a loop's works to the loop, which may be gone.
///
/// A weak variable would do, but an object that was ever weakly referenced has its counts in a side table, and every
/// retain and release of it costs twice as much from then on; a loop is retained all day long. So the works keep the
/// object's memory, by an unowned variable of their own, and this asks the runtime whether there is still life in it.
@safe
struct LoopReference {
    private let address: UInt

    /// The loop as the runtime names it.
    let executor: UnownedSerialExecutor

    init(_ loop: EventLoop) {
        unsafe self.address = UInt(bitPattern: Unmanaged.passUnretained(loop).toOpaque())
        unsafe self.executor = loop.asUnownedSerialExecutor()
    }

    /// The loop, or nil if nobody holds it any more.
    var loop: EventLoop? {
        guard let retained = unsafe swift_tryRetain(UnsafeMutableRawPointer(bitPattern: self.address))
        else { return nil }
        // The runtime has counted the reference already.
        return unsafe Unmanaged<EventLoop>.fromOpaque(retained).takeRetainedValue()
    }
}
