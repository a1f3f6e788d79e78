#if HTTP
internal import DequeModule
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// The dead letters of a bus since the console was created, grouped by error code and route.
///
/// A dead letter is a message that reached no handler, or that failed and no caller awaited. The box counts
/// all dead letters, and keeps the latest of each group.
final class LetterBox: Sendable {
    /// The error code and the route that the letters of a group share.
    struct Key: Hashable, Sendable {
        let code: String
        let pattern: String?
    }

    /// A dead letter in the form that the console may show, with hidden values replaced.
    struct Letter: Sendable {
        let id: CorrelationID
        let url: String
        let failure: ShownFailure
        let time: Double
        let isAwaited: Bool
        /// The message, so that it can be sent again; nil if the console cannot send it again.
        let message: Message?
        let size: Int
        var replayedAs: [CorrelationID] = []
        /// Whether the letter was sent again and needs no further attempt.
        ///
        /// Either the new message has succeeded, or the new message takes the place of this letter if it
        /// becomes a dead letter itself.
        var isReplayed = false
    }

    struct Group: Sendable {
        var count = 0
        var letters: Deque<Letter> = []
        var size = 0
        fileprivate var quota: TokenBucket

        init(at time: Double) { self.quota = TokenBucket(rate: LetterBox.quota, at: time) }
    }

    fileprivate struct State {
        var groups: [Key: Group] = [:]
        var counted = 0
        var size = 0
    }

    /// The header with the ID of the letter whose message a message repeats.
    static let replayHeader = "waybill-replay-of"

    private let recorder: Recorder
    private let bytes: Int
    private let keepsMessages: Bool
    private let state = Locked(State())

    private static let (groupLimit, letterLimit, messageLimit) = (256, 200, 1 << 18)
    /// The number of letters of a group that are kept per second.
    ///
    /// Letters above this number are only counted.
    private static let quota = 100.0

    /// Creates an empty box, whose letters may occupy approximately the given number of bytes.
    ///
    /// If `keepsMessages` is true, the box keeps messages, so that they can be sent again.
    init(_ recorder: Recorder, bytes: Int, keepsMessages: Bool) {
        self.recorder = recorder
        self.bytes = bytes
        self.keepsMessages = keepsMessages
    }

    /// The number of letters so far.
    var counted: Int { self.state.withLock { $0.counted } }

    /// The groups, in descending order of their counts.
    var groups: [(key: Key, group: Group)] {
        self.state.withLock { $0.groups.map { ($0.key, $0.value) } }.sorted {
            ($1.group.count, $0.key.code, $0.key.pattern ?? "") < (
                $0.group.count, $1.key.code, $1.key.pattern ?? ""
            )
        }
    }

    /// Counts a dead letter, and keeps it unless its group has reached its quota.
    ///
    /// The method runs on the thread on which the message became a dead letter.
    func take(_ letter: DeadLetter) {
        let time = self.recorder.seconds(at: letter.time)
        let (key, isKept) = self.state.withLock { state -> (Key, Bool) in
            state.counted += 1
            var key = Key(code: letter.error.code.description, pattern: letter.pattern)
            if state.groups[key] == nil, state.groups.count >= Self.groupLimit {
                // If the maximum number of groups exists, letters of other routes share one group for each
                // code.
                key = Key(code: key.code, pattern: nil)
            }
            state.groups[key, default: Group(at: time)].count += 1
            let isKept = state.groups[key]?.quota.take(at: time) == true
            // Without this letter, the letter that was sent again would count as delivered.
            return (key, isKept || state.isReplay(letter))
        }
        guard isKept else { return }
        // This call is outside the lock, because it runs code of the program's types.
        let shown = self.shown(letter, time)
        _ = self.state.withLock { $0.keep(shown, key, bytes: self.bytes, limit: Self.letterLimit) }
    }

    private func shown(_ letter: DeadLetter, _ time: Double) -> Letter {
        let recorder = self.recorder
        let url =
            letter.message.map { recorder.shownURL(of: $0).text }
            ?? recorder.writer.redaction.url(letter.url).text
        let failure = ShownFailure(
            letter.error,
            recorder.writer,
            hiding: letter.message.map(recorder.hidden(in:)) ?? []
        )
        let texts = 512 + url.utf8.count + failure.message.utf8.count
        let size = self.keepsMessages ? letter.message.map(Self.size(of:)) ?? 0 : 0
        // If a publication were sent again, the bus would route it to a handler, and the URL possibly has no
        // handler.
        let isKept = self.keepsMessages && !letter.isPublication && size < Self.messageLimit
        return Letter(
            id: letter.id,
            url: url,
            failure: failure,
            time: time,
            isAwaited: letter.isAwaited,
            message: isKept ? letter.message : nil,
            size: texts + (isKept ? size : 0)
        )
    }

    private static func size(of message: Message) -> Int {
        let headers = message.headers.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        let size = 512 + message.parameters.url.utf8.count + headers
        let values = Array(message.parameters.passedValues.values) + [message.rawPayload].compactMap(\.self)
        return values.reduce(size) { $0 + ValueSize.estimate($1, upTo: Self.messageLimit) }
    }

    /// Returns the letters that satisfy a condition and that can be sent again.
    func replayable(_ isMeant: (Key, Letter) -> Bool) -> [Letter] {
        self.state.withLock { state in
            state.groups.flatMap { key, group in
                group.letters.filter { $0.message != nil && isMeant(key, $0) }
            }
        }
    }

    /// Records that a letter was sent again, and whether its caller received a failure.
    func note(_ id: CorrelationID, replayedAs new: CorrelationID, hasFailed: Bool) {
        self.state.withLock { state in
            let isReplaced = state.groups.values.contains { $0.letters.contains { $0.id == new } }
            for (key, group) in state.groups {
                guard let place = group.letters.lastIndex(where: { $0.id == id }) else { continue }
                // Only the latest IDs are kept, because a letter may be sent again any number of times.
                if group.letters[place].replayedAs.count >= 16 {
                    state.groups[key]?.letters[place].replayedAs.removeFirst()
                }
                state.groups[key]?.letters[place].replayedAs.append(new)
                if !hasFailed || isReplaced { state.groups[key]?.letters[place].isReplayed = true }
                return
            }
        }
    }
}

extension LetterBox.State {
    /// Returns whether the message of a letter repeats the message of a kept letter.
    ///
    /// A peer can send the header, but not the cause.
    func isReplay(_ letter: DeadLetter) -> Bool {
        guard let message = letter.message, let cause = message.cause,
            message.headers[LetterBox.replayHeader] != nil
        else { return false }
        return self.groups.values.contains { $0.letters.contains { $0.id == cause } }
    }

    /// Keeps a letter, and returns the letters that are dropped to make room.
    mutating func keep(
        _ letter: LetterBox.Letter,
        _ key: LetterBox.Key,
        bytes: Int,
        limit: Int
    ) -> [LetterBox.Letter] {
        guard self.groups[key] != nil else { return [] }
        var dropped: [LetterBox.Letter?] = []
        self.groups[key]?.letters.append(letter)
        self.grow(key, by: letter.size)
        if let count = self.groups[key]?.letters.count, count > limit {
            dropped.append(self.takeOldest(of: key))
        }
        while self.size > bytes, let largest = self.groups.max(by: { $0.value.size < $1.value.size })?.key,
            self.groups[largest]?.letters.isEmpty == false
        {
            dropped.append(self.takeOldest(of: largest))
        }
        return dropped.compactMap(\.self)
    }

    private mutating func takeOldest(of key: LetterBox.Key) -> LetterBox.Letter? {
        let oldest = self.groups[key]?.letters.popFirst()
        if let oldest { self.grow(key, by: -oldest.size) }
        return oldest
    }

    private mutating func grow(_ key: LetterBox.Key, by size: Int) {
        self.groups[key]?.size += size
        self.size += size
    }
}
#endif
