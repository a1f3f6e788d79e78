// Ends while its loop releases the handlers of many signals. The program makes libuv release its shared state
// some time before the process ends. A destructor of libuv does the same, but only a few microseconds before
// the end.
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
func releaseHandlers(of loop: EventLoop) async throws {
    var readers: [Task<Void, any Error>] = []
    for _ in 0..<500 {
        let signals = try await loop.signals(.hangUp)
        readers.append(Task { for try await _ in signals {} })
    }
    for reader in readers { reader.cancel() }
}

let loop = EventLoop()
if CommandLine.arguments.contains("--dropping-loop") {
    // This loop also closes while the process exits, because nothing retains it.
    try await releaseHandlers(of: EventLoop())
} else {
    try await releaseHandlers(of: loop)
}
