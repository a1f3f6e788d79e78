// A program whose main actor shares the main thread with the modules of a bus; MainActorTests runs it.
import Waybill
import WaybillEventLoop

@MainActor
final class Window {
    private(set) var titles: [String] = []

    func show(_ title: String) -> Int {
        self.titles.append(title)
        return self.titles.count
    }
}

let loop = EventLoop.onCallingThread(name: "main")
let bus = MessageBus(eventLoop: loop)
let window = Window()

/// The work of the main actor while the loop runs.
func useBus() async throws {
    loop.preconditionInEventLoop()
    try bus.register("app://window/show") { @MainActor message async throws -> Int in
        loop.preconditionInEventLoop()
        return window.show(try message.argument("title"))
    }
    for title in ["a", "b", "c"] {
        let count: Int = try await bus.route("app://window/show?title=\(title)")
        MainActor.preconditionIsolated()
        print("\(title) is window \(count)")
    }
    #if Macros
    try await bus.install { Clock() }
    print("it is \(try await bus.service((any TimeService).self).hour()) o'clock")
    #endif
    // Many jobs of the main actor must not delay the timers of the loop.
    let busy = Task { @MainActor in while !Task.isCancelled { await Task.yield() } }
    try await loop.clock.sleep(for: .milliseconds(20))
    busy.cancel()
    print("a timer of the loop fired")
    let elsewhere = Task.detached { await window.titles.joined() }
    print("the windows are \(await elsewhere.value)")
    await bus.shutDown()
    loop.beginShutDown()
}

Task { @MainActor in
    do {
        try await useBus()
    } catch {
        print("failed: \(error)")
        loop.beginShutDown()
    }
}
loop.runServingMainActor()
print("ended")
