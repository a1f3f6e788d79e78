#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The number of file descriptors that the system permits this process.
///
/// Each connection needs one descriptor.
package enum DescriptorLimit {
    /// The limit at the time of the call; `Int.max` if the system sets none.
    package static var current: Int {
        #if canImport(Darwin)
        let resource = RLIMIT_NOFILE
        #else
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #endif
        var limit = rlimit()
        // SAFETY: the call fills the structure, and keeps no pointer to it.
        guard unsafe getrlimit(resource, &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }
}
