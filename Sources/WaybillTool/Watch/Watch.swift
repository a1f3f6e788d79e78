#if Tool
internal import Foundation
internal import Synchronization

/// The state of a running `waybill watch`.
///
/// Each message is written at once, or counted for the next drawing on the terminal.
///
/// A write to a pipe blocks while the reader does not read. The command then also stops reading from the
/// connection, and the server drops the oldest messages. Messages therefore do not accumulate in this object.
final class Watch: Sendable {
    /// The reason why no more messages will arrive.
    enum End {
        /// The requested number of messages has arrived.
        case counted
        /// The connection or a subscription has ended.
        case lost
        /// Standard output cannot be written, for example because its reader has closed the pipe.
        case unwritable(any Error)
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

    /// Creates a watch that counts messages if `isDrawn` is true, and otherwise writes each message as a
    /// line; the limit is nil for any number of messages.
    init(_ patterns: [String], isDrawn: Bool, limit: Int?) {
        self.state = Mutex(State(view: WatchView(patterns), left: limit))
        self.isDrawn = isDrawn
        (self.ends, self.ending) = AsyncStream.makeStream()
    }

    /// Receives a message, or nil when no more messages will arrive.
    func take(_ json: String?) {
        guard let json else { return self.finish(.lost) }
        let end = self.state.withLock { state -> End? in
            guard state.left != 0 else { return .counted }
            state.left = state.left.map { $0 - 1 }
            do {
                if self.isDrawn { state.view.note(json, at: Self.now) } else { try Output.write(json: json) }
            } catch {
                return .unwritable(error)
            }
            return state.left == 0 ? .counted : nil
        }
        if let end { self.finish(end) }
    }

    private func finish(_ end: End) {
        self.ending.yield(end)
        self.ending.finish()
    }

    /// Waits until no more messages will arrive, and returns the reason.
    func end() async -> End {
        for await end in self.ends { return end }
        return .lost
    }

    /// Draws the counts a few times a second until the task is cancelled, and then once more.
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
            do {
                try Output.write(picture)
            } catch {
                return self.finish(.unwritable(error))
            }
        }
    }

    private static var now: Double { ProcessInfo.processInfo.systemUptime }
}
#endif
