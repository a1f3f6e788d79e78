import Foundation
import Testing
import Waybill
import WaybillTestSupport

@testable import WaybillEventLoop

/// The thread that runs the loop of a tested bus.
enum LoopHost: String, CaseIterable, Sendable {
    /// A thread that the loop creates.
    case ownThread
    /// A thread of the program that calls `run()`.
    case callingThread
    /// The thread that runs a host's `uv_loop_t`.
    case hostLoop

    /// The host of the loops that tests create.
    @TaskLocal static var current = Self.ownThread
}

extension MessageBus {
    /// Returns a bus on a loop of the host under test.
    ///
    /// Thread and loop end when the loop is released.
    static func onHost(configuration: Configuration = .quiet) -> MessageBus {
        switch LoopHost.current {
        case .ownThread: MessageBus(configuration: configuration)
        case .callingThread: MessageBus(eventLoop: .runByAThread(), configuration: configuration)
        case .hostLoop: MessageBus(eventLoop: .adoptedByAThread(), configuration: configuration)
        }
    }
}

extension EventLoop {
    /// Creates a loop that a thread of the program runs.
    fileprivate static func runByAThread() -> EventLoop {
        let loop = EventLoop.onCallingThread(name: "called")
        // The thread retains only the core, like the thread that a loop creates, so the loop ends with its
        // last reference.
        let core = loop.core
        precondition(core.lifecycle.attach() == .attached)
        Thread.detachNewThread { core.runToTheEnd() }
        return loop
    }

    /// Creates a loop inside a libuv loop that a thread of the program runs, and that has another handle.
    fileprivate static func adoptedByAThread() -> EventLoop {
        let adopted = Locked<EventLoop?>(nil)
        let isThere = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let host = HostThread()
            host.startTimer(every: 3_600_000) {}
            do {
                let loop = try host.adopt(name: "adopted")
                // The call happens inside the host's `uv_run`, on this thread.
                loop.core.lifecycle.onClosed { [host = UncheckedHost(host: host)] in host.host.stopTimer() }
                adopted.withLock { $0 = loop }
            } catch {
                fatalError("no loop is adopted: \(error)")
            }
            isThere.signal()
            host.run()
            precondition(host.close() == 0, "the adopted loop has left handles behind")
        }
        isThere.wait()
        guard let loop = adopted.withLock({ $0.take() }) else { preconditionFailure("no loop is adopted") }
        return loop
    }
}

/// A host that is used on its own thread only.
private struct UncheckedHost: @unchecked Sendable {
    let host: HostThread
}

/// Runs each test of a suite on every kind of host, because a bus keeps its promises whichever thread runs
/// its loop.
struct EveryHost: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        for host in LoopHost.allCases {
            try await LoopHost.$current.withValue(host) { try await function() }
        }
    }
}

extension Trait where Self == EveryHost {
    /// Runs each test on every kind of host.
    static var everyHost: Self { Self() }
}
