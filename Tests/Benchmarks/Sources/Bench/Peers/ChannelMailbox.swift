import AsyncAlgorithms
import Measure
import Subjects

extension Peers {
    /// A task with an AsyncChannel as its mailbox.
    ///
    /// The task answers through a channel of the caller.
    static let channel = Subject("AsyncChannel mailbox") { count in
        let requests = AsyncChannel<Int>()
        let replies = AsyncChannel<Int>()
        let server = Task {
            for await uid in requests { await replies.send(uid) }
            replies.finish()
        }
        var iterator = replies.makeAsyncIterator()
        var sum = 0
        let start = MonotonicTime.now
        for index in 0..<count {
            await requests.send(index & 15 &+ 1)
            sum &+= await iterator.next() ?? 0
        }
        let time = Caller.time(since: start, sum, count)
        requests.finish()
        await server.value
        return time
    }
}
