#if HTTP
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The replies of a durable store to the console.
///
/// The console does not import the types of the store, so it reads the replies as JSON.
private struct StoreView: Sendable {
    let url: String
    var statistics = JSONText.null
    var letters: [StoreLetter] = []
    var schedules: [JSONText] = []
    /// The failure of the first route that did not reply; nil if all routes replied.
    var failure: ShownFailure?
}

/// The properties of a dead letter that the page shows, without its values, which can be large.
private struct StoreLetter: Sendable {
    let id: Int?
    let url: String
    let attempts: Int?
    let died: Int?
    let code: RoutingError.Code?
    let failure: String

    init(_ letter: JSONText) {
        self.id = letter.member(named: "id")?.int
        self.url = letter.member(named: "url")?.string ?? ""
        self.attempts = letter.member(named: "attempts")?.int
        self.died = letter.member(named: "time")?.int
        self.code = letter.member(named: "code")?.string.flatMap { RoutingError.Code(named: $0) }
        self.failure = letter.member(named: "failure")?.string ?? ""
    }
}

// The console reads the durable stores of the program by calling their routes, like any other caller.
extension ConsoleCore {
    private static let storeTimeout = Duration.seconds(5)
    /// The maximum number of dead letters of each store that the page shows.
    private static let storeLetters = 100
    /// The maximum number of pages of dead letters that are read, each of which may have several megabytes.
    private static let storePages = 25
    private static let storeFigures = [
        "waiting", "underway", "dead", "schedules", "oldestAge", "size", "attempts", "commits", "commitTime",
    ]

    /// The number of seconds for which all pages receive the same answer, so that the load of the stores does
    /// not depend on the number of pages.
    private static let storesLifetime = 1.0

    /// The statistics, the dead letters and the schedules of each store, as JSON.
    var stores: [UInt8] {
        get async {
            let now = self.recorder.seconds()
            if let known = self.knownStores.withLock({ $0 }), now - known.time < Self.storesLifetime {
                return known.json
            }
            var views: [StoreView] = []
            for url in self.configuration.stores { views.append(await self.view(ofStoreAt: url)) }
            var json = JSONFields()
            json.add("stores", items: views) { view, json in
                json.add("url", view.url)
                json.add(view.failure)
                json.add("statistics") { json in
                    for name in Self.storeFigures { json.add(name, view.statistics.member(named: name)?.int) }
                }
                json.add("letters", items: view.letters) { self.write($0, to: &$1) }
                json.add("schedules", items: view.schedules) { schedule, json in
                    json.add("name", schedule.member(named: "name")?.string)
                    json.add("url", self.shown(schedule.member(named: "url")?.string ?? "").text)
                    json.add("rule", schedule.member(named: "rule")?.string)
                    json.add("next", schedule.member(named: "next")?.int)
                }
            }
            let bytes = json.bytes
            self.knownStores.withLock { $0 = (now, bytes) }
            return bytes
        }
    }

    private func view(ofStoreAt url: String) async -> StoreView {
        var view = StoreView(url: url)
        do throws(RoutingError) {
            view.statistics = try await self.reply(of: "\(url)/statistics")
            view.letters = try await self.letters(ofStoreAt: url)
            view.schedules = try await self.reply(of: "\(url)/schedules").elements ?? []
        } catch {
            view.failure = ShownFailure(error, self.recorder.writer, hiding: [])
        }
        return view
    }

    /// Reads the dead letters page by page, because a store shortens a page whose values are large.
    private func letters(ofStoreAt url: String) async throws(RoutingError) -> [StoreLetter] {
        var (letters, last): ([StoreLetter], Int) = ([], 0)
        for _ in 0..<Self.storePages where letters.count < Self.storeLetters {
            let limit = Self.storeLetters - letters.count
            let page = try await self.reply(of: "\(url)/messages?state=dead&limit=\(limit)&after=\(last)")
            letters += (page.elements ?? []).map(StoreLetter.init)
            guard let id = letters.last?.id, id > last else { break }
            last = id
        }
        return letters
    }

    private func reply(of url: String) async throws(RoutingError) -> JSONText {
        let (_, result) = await self.bus.perform(url, parameters: [:], timeout: Self.storeTimeout)
        return try JSONText(encoding: try result.get())
    }

    /// Writes a dead letter.
    ///
    /// The failure is shown if the configuration allows it.
    private func write(_ letter: StoreLetter, to json: inout JSONFields) {
        let shown = self.shown(letter.url)
        let message = Self.sentence(in: letter.failure, of: letter.code)
        let error = RoutingError(letter.code ?? .handlerFailed, url: letter.url, message: message)
        json.add("id", letter.id)
        json.add("url", shown.text)
        json.add("attempts", letter.attempts)
        json.add("died", letter.died)
        json.add(ShownFailure(error, self.recorder.writer, hiding: shown.hidden))
    }

    /// Returns the sentence of an error in a line that begins with the error's code, URL and route.
    ///
    /// The page shows the code and the URL itself, so they would take the place of the cause.
    private static func sentence(in line: String, of code: RoutingError.Code?) -> String {
        guard let code, line.hasPrefix("\(code)"), let colon = line.firstRange(of: ": ") else { return line }
        return String(line[colon.upperBound...])
    }
}
#endif
