// Ends while its loop gives the handles of many signals back, and has libuv give back what it shares some time before
// the process is gone: a destructor of libuv does the same, and then only a few microseconds are left.
import CLibUV
import WaybillEventLoop

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

// Exit handlers run in reverse order, so this one runs after the handlers of the loop.
atexit {
    uv_library_shutdown()
    usleep(50_000)
}
let loop = EventLoop()
var readers: [Task<Void, any Error>] = []
for _ in 0..<500 {
    let signals = try await loop.signals(.hangUp)
    readers.append(Task { for try await _ in signals {} })
}
for reader in readers { reader.cancel() }
