#if HTTP
internal import HTTPTypes
internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillHTTP
internal import WaybillJSON
internal import WaybillRouting

// Actions of the page. The configuration must allow them. Each action is logged.
extension ConsoleCore {
    /// The shortest, the default and the longest timeout of an action, in milliseconds.
    private static let (shortestTimeout, usualTimeout, longestTimeout) = (1, 5000, 60_000)
    /// The maximum number of dead letters that one request sends again, and the maximum number in flight.
    private static let (replayLimit, replaysAtOnce) = (1000, 16)

    /// Calls a route.
    ///
    /// The body of the request is `{"url","parameters":{},"timeout":ms}`.
    func call(_ body: JSONText) async throws -> [UInt8] {
        guard let url = body.member(named: "url")?.string else {
            throw Problem(.badRequest, "`url` is missing")
        }
        let parameters = body.member(named: "parameters")
        guard let values = parameters.map({ $0.isNull ? [:] : $0.parameters }) ?? [:] else {
            throw Problem(.badRequest, "`parameters` is not an object")
        }
        let timeout = body.member(named: "timeout")?.int ?? Self.usualTimeout
        let limit = min(max(timeout, Self.shortestTimeout), Self.longestTimeout)
        let begin = ContinuousClock.now
        let (id, result) = await self.bus.perform(url, parameters: values, timeout: .milliseconds(limit))
        let duration = ContinuousClock.now - begin
        // The call has possibly changed a store.
        self.knownStores.withLock { $0 = nil }
        let shown = self.shown(url)
        var metadata: Logger.Metadata = ["url": "\(shown.text)", "id": "\(id)"]
        if case .failure(let error) = result { metadata["failure"] = "\(error.code)" }
        self.configuration.logger.notice("console: called", metadata: metadata)
        var json = JSONFields()
        json.add("id", "\(id)")
        switch result {
        case .success(let value):
            json.add("reply", raw: self.reply(value))
            json.add("failure", raw: "null")
        case .failure(let error):
            json.add("reply", raw: "null")
            let passed = values.filter { self.recorder.writer.redaction.hides($0.key) }
                .map { Parameters.text(of: $0.value) }
            let failure = ShownFailure(error, self.recorder.writer, hiding: shown.hidden + passed)
            json.add("failure") { json in
                json.add("code", failure.code)
                json.add("message", failure.message)
                json.add("suggestions", error.code == .noRoute ? self.bus.explain(url).nearest : [])
            }
        }
        json.add("duration", duration.microseconds)
        return json.bytes
    }

    /// Returns a URL in which the values of hidden names are replaced.
    func shown(_ url: String) -> Redaction.ShownURL {
        let ranges = self.bus.explain(url).parameters.map(self.recorder.catalog.pathRanges(of:)) ?? []
        return self.recorder.writer.redaction.url(url, path: ranges)
    }

    /// Returns a reply as JSON.
    ///
    /// If payloads are not shown, returns the shape of the reply as a JSON string.
    private func reply(_ value: any Sendable) -> String {
        if self.configuration.showsPayloads, let json = self.recorder.writer.json(value) { return json }
        var writer = JSONWriter()
        writer.string(Shape.of(value, hiding: self.recorder.writer.redaction))
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Sends dead letters again.
    ///
    /// The body of the request is `{"ids":[..]}` or `{"code":..,"pattern":..}`. A code and a pattern name the
    /// letters of a group that were not yet sent again with success.
    func replay(_ body: JSONText) async throws -> [UInt8] {
        let letters: [LetterBox.Letter]
        if let ids = body.member(named: "ids")?.elements {
            let meant = Set(ids.compactMap { $0.string.flatMap { UInt64($0, radix: 16) } })
            letters = self.letters.replayable { meant.contains($1.id.rawValue) }
        } else if let code = body.member(named: "code")?.string {
            let pattern = body.member(named: "pattern")?.string
            let meant = LetterBox.Key(code: code, pattern: pattern)
            letters = self.letters.replayable { $0 == meant && !$1.isReplayed }
        } else {
            throw Problem(.badRequest, "`ids` or `code` must name the dead letters")
        }
        let replays = await self.replays(of: letters.sorted { $0.id < $1.id }.prefix(Self.replayLimit))
        var json = JSONFields()
        json.add("replayed", items: replays) { replay, json in
            json.add("id", "\(replay.id)")
            json.add("as", "\(replay.new)")
            json.add(replay.failure)
        }
        return json.bytes
    }

    private struct Replay {
        let id: CorrelationID
        let new: CorrelationID
        let failure: ShownFailure?
    }

    private func replays(of letters: ArraySlice<LetterBox.Letter>) async -> [Replay] {
        await withTaskGroup(of: Replay?.self) { group in
            var replays: [Replay] = []
            for (number, letter) in letters.enumerated() {
                if number >= Self.replaysAtOnce, let replay = await group.next() {
                    replays += [replay].compactMap(\.self)
                }
                group.addTask { await self.replay(letter) }
            }
            for await replay in group { replays += [replay].compactMap(\.self) }
            return replays.sorted { $0.id < $1.id }
        }
    }

    /// Sends a dead letter again in the way of its first sender: with a caller, or without a caller and
    /// without a deadline.
    private func replay(_ letter: LetterBox.Letter) async -> Replay? {
        guard let message = letter.message else { return nil }
        let timeout = letter.isAwaited ? Duration.milliseconds(Self.usualTimeout) : nil
        let headers = [LetterBox.replayHeader: "\(letter.id)"]
        let (id, error) = await self.bus.replay(message, headers: headers, timeout: timeout)
        // A sent message that fails becomes a dead letter.
        self.letters.note(letter.id, replayedAs: id, hasFailed: letter.isAwaited && error != nil)
        let failure = error.map {
            ShownFailure($0, self.recorder.writer, hiding: self.recorder.hidden(in: message))
        }
        var metadata: Logger.Metadata = ["url": "\(letter.url)", "id": "\(letter.id)", "as": "\(id)"]
        metadata["failure"] = failure.map { "\($0.code)" }
        self.configuration.logger.notice("console: sent a dead letter once more", metadata: metadata)
        return Replay(id: letter.id, new: id, failure: failure)
    }
}
#endif
