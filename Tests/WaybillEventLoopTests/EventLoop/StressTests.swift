internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

/// All operations at the same time, from several threads, while the loop shuts down.
///
/// Each operation must end exactly once.
@Suite(.timeLimit(.minutes(2)))
struct StressTests {
    @Test(arguments: [IdlePolicy.park, .spin(for: .microseconds(30))])
    func `each closure from many threads runs, whenever the loop shuts down`(policy: IdlePolicy) async {
        for round in 0..<30 {
            let loop = EventLoop(name: "stress", configuration: .init(idlePolicy: policy))
            let ran = Tally()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for index in 0..<200 {
                            loop.execute { ran.add() }
                            if index % 50 == 0 { await Task.yield() }
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<round { await Task.yield() }
                    await loop.shutDown()
                }
            }
            await loop.run {}
            #expect(ran.count == 800)
        }
    }

    @Test
    func `actors, sleeps, timers and signals all end when their loop shuts down`() async {
        for round in 0..<30 {
            let loop = EventLoop(name: "stress")
            let counter = Counter(eventLoop: loop)
            let ended = await withTaskGroup(of: Int.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        for _ in 0..<50 { await counter.increment() }
                        return 1
                    }
                    group.addTask {
                        try? await loop.clock.sleep(for: .seconds(index < 4 ? 600 : 0))
                        return 1
                    }
                    group.addTask {
                        for _ in 0..<50 { loop.schedule(at: .now + .microseconds(index * 100)) {}.cancel() }
                        return 1
                    }
                    group.addTask {
                        guard let signals = try? await loop.signals(.user2) else { return 1 }
                        do { for try await _ in signals {} } catch {}
                        return 1
                    }
                }
                group.addTask {
                    for _ in 0..<round * 10 { await Task.yield() }
                    await loop.shutDown()
                    return 1
                }
                return await group.reduce(0, +)
            }
            #expect(ended == 33)
            #expect(await counter.count == 400)
        }
    }

    @Test
    func `sleepers that are cancelled from other threads leave no timer behind`() async {
        let loop = EventLoop(name: "stress")
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<2000 {
                group.addTask {
                    let sleeper = Task {
                        try await loop.clock.sleep(for: .microseconds(index % 2 == 0 ? 600_000_000 : index))
                    }
                    if index % 3 == 0 { await Task.yield() }
                    if index % 2 == 0 { sleeper.cancel() }
                    _ = await sleeper.result
                }
            }
        }
        await loop.run {}
        #expect(loop.statistics.pendingTimers == 0)
    }

    @Test
    func `actors whose loop was dropped meanwhile lose no call`() async {
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    let counter = Counter(eventLoop: EventLoop(name: "dropped"))
                    for _ in 0..<20 { await counter.increment() }
                    return await counter.count
                }
            }
            for await count in group { #expect(count == 20) }
        }
    }
}
