import CMeasure
import Measure

extension Peers {
    /// Two bare libuv loops on two threads, which wake each other.
    static let asyncSend = Subject("uv_async_send ping-pong") { count in
        measure_uv_ping_pong(UInt64(count))
    }

    /// The ping-pong as the witness of a run.
    ///
    /// A round trip takes 46,000 ns on the machine of decision 5.
    static let witness = Witness(Peers.asyncSend, iterations: 500, quiet: 46_000)
}
