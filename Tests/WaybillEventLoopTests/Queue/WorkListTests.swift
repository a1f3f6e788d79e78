internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

struct WorkListTests {
    private let log = Journal<Int>()

    private func list(_ numbers: [Int]) -> WorkList {
        var list = WorkList()
        for number in numbers { list.append(self.item(number)) }
        return list
    }

    private func item(_ number: Int) -> WorkItem {
        WorkItem { [log] in log.add(number) }
    }

    private func drain(_ list: WorkList) -> [Int] {
        var list = list
        while let item = list.pop() { item.takeBody()() }
        return self.log.entries
    }

    @Test
    func `a work list returns its items in order`() {
        #expect(self.drain(self.list([1, 2, 3])) == [1, 2, 3])
    }

    @Test(arguments: [([], [1]), ([1], []), ([1, 2], [3, 4]), ([], [])] as [([Int], [Int])])
    func `appending a work list to another keeps the order of both`(first: [Int], second: [Int]) {
        var joined = self.list(first)
        joined.append(self.list(second))
        #expect(self.drain(joined) == first + second)
    }

    @Test
    func `an item can be prepended to a work list, also to an empty one`() {
        var list = WorkList()
        list.prepend(self.item(2))
        list.prepend(self.item(1))
        list.append(self.item(3))
        #expect(self.drain(list) == [1, 2, 3])
    }

    @Test
    func `a work list that was emptied can be filled again`() {
        var list = self.list([1])
        list.pop()?.takeBody()()
        #expect(list.isEmpty)
        list.append(self.item(2))
        #expect(self.drain(list) == [1, 2])
    }
}
