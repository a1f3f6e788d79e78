import CMallocCount
import Subjects
import WaybillEventLoop
import WaybillRouting

// Does one thing N times on the main thread and nothing else, for whoever counts allocations: run it for N and for
// 2N, and the difference is what N of them allocate. Prints what the malloc linked into it has counted.
//
// The main thread is synchronous and runs the loop itself: valgrind cannot follow an asynchronous main.

func routeOnOneLoop(_ urls: UserURLs, _ count: Int) throws {
    // The loop polls after a slice of time, which allocates a little; under valgrind nearly every route would end one.
    let loop = EventLoop.onCallingThread(configuration: .init(timeSlice: .seconds(3600)))
    let office = try Office(on: loop)
    Task.detached {
        _ = try await office.caller.route(urls, on: office.bus, count)
        loop.beginShutDown()
    }
    loop.run()
}

func match(_ count: Int) throws {
    var table = RouteTable<Int>()
    try table.insert("app://user/:one/:two/:three/:four/:five/:six/:seven/:eight", 1)
    let url = "app://user/a/b/c/d/e/f/g/h?page=2"
    var sum = 0
    for _ in 0..<count {
        guard let match = try table.match(url) else { continue }
        sum += table[match] ?? 0
    }
    precondition(sum == count, "a URL was not matched")
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let count = Int(arguments[2]) else { fatalError("usage: Allocations WHAT COUNT") }
switch arguments[1] {
case "same-loop": try routeOnOneLoop(Office.detail, count)
case "same-loop-closure": try routeOnOneLoop(Office.closure, count)
case "macro": try routeOnOneLoop(Office.macro, count)
case "same-loop-async": try routeOnOneLoop(Office.suspending, count)
case "match": try match(count)
default: fatalError("there is no \(arguments[1]) to count")
}
print(malloc_count())
