#if Tool
internal import Foundation

/// The content of `waybill watch` on a terminal: the number of messages, their rate, and the last messages.
struct WatchView {
    private struct Envelope: Decodable { let url: String }

    private static let period = 5.0

    private let patterns: [String]
    private var total = 0
    private var counts: [String: Int] = [:]
    private var last: [String] = []
    /// The arrival times of the messages of the last five seconds.
    private var recent: [Double] = []

    init(_ patterns: [String]) { self.patterns = patterns }

    /// Adds a message to the counts, to the rate and to the last messages, at a time in seconds.
    mutating func note(_ json: String, at time: Double) {
        self.total += 1
        let envelope = try? JSONDecoder().decode(Envelope.self, from: Data(json.utf8))
        let url = envelope?.url.prefix { $0 != "?" && $0 != "#" } ?? "?"
        // The number of counted URLs is limited, because a pattern with values in its path has any number of
        // URLs.
        if self.counts.count < 1024 || self.counts[String(url)] != nil {
            self.counts[String(url), default: 0] += 1
        }
        self.last.append(json)
        if self.last.count > 64 { self.last.removeFirst() }
        self.recent.append(time)
        if self.recent.count > 100_000 { self.recent.removeFirst(50_000) }
    }

    /// Returns the lines to draw on a terminal of a given size.
    mutating func lines(columns: Int, rows: Int, at time: Double) -> [String] {
        self.recent.removeAll { $0 < time - Self.period }
        let rate = Double(self.recent.count) / Self.period
        let rateText = String(format: "%.1f", rate)
        let head = "\(self.patterns.joined(separator: " ")): \(self.total) messages, \(rateText)/s"
        let ranked = self.counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let body = max(2, rows - 3)
        let counted = ranked.prefix(body / 2).map { url, count in
            String(repeating: " ", count: max(0, 9 - String(count).count)) + "\(count)  \(url)"
        }
        let messages = self.last.suffix(body - counted.count)
        return ([head] + counted + [""] + messages).map { line in
            String(Output.printable(line).prefix(max(1, columns - 1)))
        }
    }
}
#endif
