import HostUV
import Testing
import Waybill
import WaybillEventLoop

/// A program with its own libuv loop that runs a bus on it.
struct HostLoopTests {
    @Test func `a bus runs on a libuv loop that the program runs`() async throws {
        let host = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
        defer {
            timer.deallocate()
            host.deallocate()
        }
        uv_loop_init(host)
        // The program's own timer keeps the loop running.
        uv_timer_init(host, timer)
        uv_timer_start(timer, { _ in }, 1, 1)
        let loop = try EventLoop.adopting(UnsafeMutableRawPointer(host), name: "host's")
        let bus = MessageBus(eventLoop: loop)
        try bus.register("app://double/:number") { message -> Int in
            try 2 * message.parameters.require("number", as: Int.self)
        }
        let task = Task {
            defer { loop.beginShutDown() }
            return try await bus.route("app://double/21", as: Int.self)
        }
        while !loop.isShutDown { uv_run(host, UV_RUN_ONCE) }
        UnsafeMutableRawPointer(timer).withMemoryRebound(to: uv_handle_t.self, capacity: 1) {
            uv_close($0, nil)
        }
        uv_run(host, UV_RUN_DEFAULT)
        #expect(uv_loop_close(host) == 0)
        #expect(try await task.value == 42 && loop.name == "host's")
    }
}
