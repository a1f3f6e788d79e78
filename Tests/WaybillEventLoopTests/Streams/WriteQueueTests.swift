internal import Testing

@testable internal import WaybillEventLoop

struct WriteQueueTests {
    @Test(arguments: [1, 2, 3, 5, 7, 100])
    func `the write queue returns bytes in order, however many are taken at once`(step: Int) {
        var queue = WriteQueue()
        var expected: [UInt8] = []
        var taken: [UInt8] = []
        for size in 0..<40 {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &+ size) }
            queue.append(bytes)
            expected += bytes
            if size.isMultiple(of: 3) { taken += Self.take(step, from: &queue) }
            #expect(queue.count == expected.count - taken.count)
        }
        while queue.count > 0 { taken += Self.take(step, from: &queue) }
        #expect(taken == expected)
    }

    @Test
    func `the write queue skips bytes that were sent already`() {
        var queue = WriteQueue()
        queue.append([1, 2, 3], skipping: 2)
        queue.append([4], skipping: 1)
        queue.append([5, 6])
        #expect(Self.take(9, from: &queue) == [3, 5, 6])
    }

    @Test
    func `one system call takes at most sixteen buffers from the write queue`() {
        var queue = WriteQueue()
        for byte in 0..<20 { queue.append([UInt8(byte), 0]) }
        queue.consume(1)
        let (buffers, count) = unsafe queue.withFront { ($0.count, $1) }
        #expect(buffers == 16)
        #expect(count == 31)
    }

    private static func take(_ count: Int, from queue: inout WriteQueue) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(count, queue.count))
        unsafe bytes.withUnsafeMutableBytes { unsafe queue.move(into: $0) }
        return bytes
    }
}
