internal import Testing

@testable internal import WaybillEventLoop

struct PullStateTests {
    @Test
    func `the first wait starts watching the socket, and later waits find it watched`() {
        let state = Box(PullState(isReady: false))
        #expect(state.value.call() == .wait(watch: true))
        #expect(state.value.becameReady() == .pull)
        state.value.took(more: false)
        #expect(state.value.call() == .wait(watch: false))
    }

    @Test
    func `an event without a waiting task stops the watch, and the next read tries at once`() {
        let state = Box(PullState(isReady: false))
        #expect(state.value.call() == .wait(watch: true))
        #expect(state.value.becameReady() == .pull)
        state.value.took(more: false)
        #expect(state.value.becameReady() == .unwatch)
        #expect(state.value.call() == .pull)
        state.value.tookNothing()
        #expect(state.value.call() == .wait(watch: true))
    }

    @Test
    func `a read that may have left bytes is tried again without a wait`() {
        let state = Box(PullState(isReady: true))
        #expect(state.value.call() == .pull)
        state.value.took(more: true)
        #expect(state.value.call() == .pull)
        state.value.took(more: false)
        #expect(state.value.call() == .wait(watch: true))
    }

    @Test
    func `a second waiting task is rejected, and a cancelled task makes room`() {
        let state = Box(PullState(isReady: false))
        #expect(state.value.call() == .wait(watch: true))
        #expect(state.value.call() == .refuse)
        state.value.cancel()
        #expect(state.value.call() == .wait(watch: false))
    }

    @Test
    func `the end of a pause starts the watch only if a task waits`() {
        let state = Box(PullState(isReady: false))
        state.value.pause()
        #expect(state.value.resume() == false)
        #expect(state.value.call() == .wait(watch: true))
        state.value.pause()
        #expect(state.value.resume() == true)
        #expect(state.value.resume() == false)
    }
}
