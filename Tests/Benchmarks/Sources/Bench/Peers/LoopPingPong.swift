import CMeasure
import Measure

extension Peers {
    /// Two bare libuv loops on two threads, which wake each other.
    static let asyncSend = Subject("uv_async_send ping-pong") { count in
        measure_uv_ping_pong(UInt64(count))
    }
}
