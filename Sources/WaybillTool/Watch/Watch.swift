#if Tool
internal import Foundation
internal import Synchronization

/// Receives messages, and either writes each one immediately or records it for the next picture.
///
/// Writing to a pipe that is not read blocks, and with it the connection. The server then drops the oldest
/// messages, so that none are collected here.
final class Watch: Sendable {
    /// Why there are no more messages.
    enum End {
        /// As many have come as were wanted.
        case counted
        /// The connection or a subscription has ended.
        case lost
        /// The reader of standard output has gone.
        case closed
    }

    private struct State {
        var view: WatchView
        var screen = Screen()
        var left: Int?
    }

    private static let pause = Duration.milliseconds(200)

    private let state: Mutex<State>
    private let isDrawn: Bool
    private let ends: AsyncStream<End>
    private let ending: AsyncStream<End>.Continuation

    /// - Parameters:
    ///   - patterns: The watched patterns, for the picture.
    ///   - isDrawn: Whether messages are recorded for ``draw()``, and not written as lines.
    ///   - limit: The number of messages after which the watch ends; nil for no limit.
    init(_ patterns: [String], isDrawn: Bool, limit: Int?) {
        self.state = Mutex(State(view: WatchView(patterns), left: limit))
        self.isDrawn = isDrawn
        (self.ends, self.ending) = AsyncStream.makeStream()
    }

    /// Takes a message, or nil for the end.
    func take(_ json: String?) {
        guard let json else { return self.finish(.lost) }
        let end = self.state.withLock { state -> End? in
            guard state.left != 0 else { return .counted }
            state.left = state.left.map { $0 - 1 }
            if self.isDrawn {
                state.view.note(json, at: Self.now)
            } else if (try? Output.write(json: json)) == nil {
                return .closed
            }
            return state.left == 0 ? .counted : nil
        }
        if let end { self.finish(end) }
    }

    private func finish(_ end: End) {
        self.ending.yield(end)
        self.ending.finish()
    }

    /// Waits for the end.
    func end() async -> End {
        for await end in self.ends { return end }
        return .lost
    }

    /// Draws a picture a few times a second until the task is cancelled, and the last one then.
    func draw() async {
        guard self.isDrawn else { return }
        var isOver = false
        while !isOver {
            isOver = (try? await Task.sleep(for: Self.pause)) == nil
            let picture = self.state.withLock { state in
                let (columns, rows) = Screen.size
                let lines = state.view.lines(columns: columns, rows: rows, at: Self.now)
                return state.screen.text(for: lines)
            }
            if (try? Output.write(picture)) == nil { return self.finish(.closed) }
        }
    }

    private static var now: Double { ProcessInfo.processInfo.systemUptime }
}
#endif
