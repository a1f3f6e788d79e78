package import Waybill
internal import WaybillEventLoop
package import WaybillRouting

/// Callers that route one URL repeatedly until they are stopped.
package final class CallLoad: Sendable {
    private struct State {
        var replies: [String: Int] = [:]
        var errors: [RoutingError] = []
        var isStopped = false
    }

    private let state = Locked(State())
    private let callers = Locked<[Task<Void, Never>]>([])

    /// Starts callers.
    ///
    /// - Parameters:
    ///   - url: The URL of a handler that replies with the name of its node.
    ///   - bus: The bus of the callers.
    ///   - count: The number of callers.
    package init(_ url: String, on bus: MessageBus, callers count: Int) {
        let tasks = (0..<count).map { _ in
            Task {
                while !self.state.withLock({ $0.isStopped }) {
                    do throws(RoutingError) {
                        let name = try await bus.route(url, as: String.self)
                        self.state.withLock { $0.replies[name, default: 0] += 1 }
                    } catch {
                        self.state.withLock { $0.errors.append(error) }
                        try? await Task.sleep(for: .milliseconds(1))
                    }
                }
            }
        }
        self.callers.withLock { $0 = tasks }
    }

    /// The number of replies of each node.
    package var replies: [String: Int] { self.state.withLock { $0.replies } }

    /// The number of replies.
    package var count: Int { self.replies.values.reduce(0, +) }

    /// Waits for the last reply of each caller, and returns the failures.
    package func stop() async -> [RoutingError] {
        self.state.withLock { $0.isStopped = true }
        for caller in self.callers.withLock({ $0 }) { await caller.value }
        return self.state.withLock { $0.errors }
    }
}
