internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A socket address in the form that system calls use.
struct SocketAddress: Sendable {
    private var storage = sockaddr_storage()
    private(set) var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    /// The longest path of a Unix socket in bytes, without the zero byte that the system requires.
    static var longestPath: Int { MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1 }

    /// Creates an address that a system call fills in, or nil if the call returns a negative number.
    init?(from call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
        var length = self.length
        let status = unsafe self.withMutablePointer { address in unsafe call(address, &length) }
        if status < 0 { return nil }
        self.length = length
    }

    /// Creates an address that a name lookup has found.
    init(copying address: UnsafePointer<sockaddr>, length: socklen_t) {
        self.length = min(length, self.length)
        unsafe withUnsafeMutableBytes(of: &self.storage) {
            unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(self.length)))
        }
    }

    /// Creates an address from an IP address; returns nil if the text is not an IP address.
    init?(ip: String, port: Int) {
        guard let port = Int32(exactly: port) else { return nil }
        let isVersion4 = unsafe withUnsafeMutableBytes(of: &self.storage) { bytes in
            // The storage is large enough, and aligned, for the address of each family.
            unsafe uv_ip4_addr(ip, port, bytes.baseAddress?.assumingMemoryBound(to: sockaddr_in.self)) == 0
        }
        if isVersion4 {
            self.length = socklen_t(MemoryLayout<sockaddr_in>.size)
            return
        }
        let isVersion6 = unsafe withUnsafeMutableBytes(of: &self.storage) { bytes in
            unsafe uv_ip6_addr(ip, port, bytes.baseAddress?.assumingMemoryBound(to: sockaddr_in6.self)) == 0
        }
        guard isVersion6 else { return nil }
        self.length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    }

    /// Creates an address from the path of a Unix socket.
    init(path: String) throws(StreamError) {
        let bytes = Array(path.utf8)
        let fault: String? =
            if bytes.isEmpty {
                "the path is empty"
            } else if bytes.count > Self.longestPath {
                "the path has \(bytes.count) bytes, and the limit is \(Self.longestPath)"
            } else if bytes.contains(0) {
                "the path contains a zero byte"
            } else {
                nil
            }
        if let fault {
            let message = "the path cannot be the path of a socket: \(fault)"
            throw StreamError(.invalidAddress, message: message, address: .unix(path))
        }
        self.storage.ss_family = sa_family_t(AF_UNIX)
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        unsafe withUnsafeMutableBytes(of: &self.storage) { storage in
            unsafe storage[offset...].copyBytes(from: bytes)
        }
        self.length = socklen_t(MemoryLayout<sockaddr_un>.size)
    }

    var family: Int32 { Int32(self.storage.ss_family) }

    var isUnix: Bool { self.family == AF_UNIX }

    /// The address in the form that users write; the path is empty for a Unix socket without a path.
    var address: StreamAddress {
        switch self.family {
        case AF_UNIX: .unix(self.path)
        case AF_INET, AF_INET6: .tcp(self.host, port: self.port)
        default: .unix("")
        }
    }

    private var port: Int {
        unsafe self.withPointer { address in
            // Both families store the port at the same offset, in network order.
            let port = unsafe UnsafeRawPointer(address).load(fromByteOffset: 2, as: UInt16.self)
            return Int(UInt16(bigEndian: port))
        }
    }

    private var host: String {
        unsafe self.withPointer { address in
            unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
                guard let start = text.baseAddress, unsafe uv_ip_name(address, start, text.count) == 0
                else { return "" }
                return unsafe String(cString: start)
            }
        }
    }

    private var path: String {
        unsafe withUnsafeBytes(of: self.storage) { bytes in
            let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
            let path = unsafe bytes[min(offset, Int(self.length))..<Int(self.length)]
            return unsafe String(decoding: path.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Calls a closure with a pointer to the address, which is valid until the closure returns.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        unsafe withUnsafePointer(to: self.storage) { storage in
            // The structure of every address family begins like `sockaddr`.
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
        }
    }

    private mutating func withMutablePointer<Result>(
        _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        unsafe withUnsafeMutablePointer(to: &self.storage) { storage in
            // The structure of every address family begins like `sockaddr`.
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
        }
    }
}
