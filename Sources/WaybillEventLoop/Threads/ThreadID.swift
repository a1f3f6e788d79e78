internal import CLibUV

/// A number that names the calling thread, in about a nanosecond.
///
/// It is read from a register; a thread-local variable would be looked up through the dynamic linker.
enum ThreadID {
    /// No thread.
    static let none: UInt = 0

    /// The calling thread.
    @inline(__always)
    static var current: UInt { waybill_thread_id() }
}
