import Measure
import Subjects

extension Peers {
    /// A task with an AsyncStream as its mailbox.
    ///
    /// A continuation resumes a caller that waits for the end of a burst.
    static let stream = Subject("AsyncStream mailbox") { count in
        let (stream, mailbox) = AsyncStream.makeStream(of: Letter.self)
        let server = Task {
            var sum = 0
            for await letter in stream {
                sum &+= letter.uid
                letter.done?.resume()
            }
            return sum
        }
        let start = MonotonicTime.now
        for index in 0..<count {
            mailbox.yield(Letter(uid: index & 15 &+ 1, done: nil))
            if index % 896 == 895 {
                await withCheckedContinuation { _ = mailbox.yield(Letter(uid: 0, done: $0)) }
            }
        }
        await withCheckedContinuation { _ = mailbox.yield(Letter(uid: 0, done: $0)) }
        let time = MonotonicTime.now - start
        mailbox.finish()
        let sum = await server.value
        precondition(sum == UserURLs.sum(count), "a message was lost")
        return time
    }

    private struct Letter {
        let uid: Int
        let done: CheckedContinuation<Void, Never>?
    }
}
