internal import Foundation
package import WaybillRouting

/// Random patterns and URLs from a small vocabulary, so that many of them match.
package struct RandomRoutes {
    package var random: SeededGenerator

    package init(seed: UInt64) { self.random = SeededGenerator(seed: seed) }

    private static let words = [
        "a", "b", "ab", "ba", "aab", "abcdefgh", "abcdefghi", "12", "-7", "a-b", "true", "é", "x.y",
    ]
    private static let forms = [
        ":p", ":q", "{p}", "<q>", "<int:n>", "<bool:t>", "<double:d>", "<string:s>", "<uuid:u>", ":p(\\d+)",
        ":p([ab]+)", ":q(a|ab|b*a)", ":p(\\w{2,3})", "a{p}", "{p}b", "{p}-{q}", ":p-:q", "{p}a{q}",
        "<int:n>{p}",
        "{p}<int:n>", ":p(a+):q(b*a+)", "*", "*", "*a", "a*", "a*b", "*-{p}", "**", "**", "**r", "*r",
        "<path:r>",
        "<double:d>e<int:n>", ":p(a*)b{q}",
    ]
    private static let urlWords =
        words + [
            "1", "0", "FALSE", "1.5", "+3", "1e5", "aa", "abab", "b-a-b", "aabb", "%61", "%C3%A9",
            "a%2Fb", "99999999999999999999", "9223372036854775807", "3e2e1", "0-0", "abbaab", "7e-7e7",
        ]

    package mutating func pattern() -> String {
        var text = self.random.chance(20) ? "web:" : self.random.chance(30) ? "app://" : "/"
        for index in 0..<Int(self.random.next() % 4) {
            if index > 0 { text += "/" }
            text += self.random.chance(45) ? self.random.pick(Self.words) : self.random.pick(Self.forms)
            if self.random.chance(7) { text += "(/\(self.random.pick(Self.words + Self.forms)))" }
        }
        return text.isEmpty ? "/" : text
    }

    package mutating func url() -> String {
        var text = self.random.chance(20) ? "web:" : self.random.chance(30) ? "APP://" : "/"
        for index in 0..<Int(self.random.next() % 5) {
            if index > 0 { text += self.random.chance(5) ? "//" : "/" }
            text += self.random.pick(Self.urlWords)
        }
        if self.random.chance(10) { text += "?p=query&z=%20" }
        return text
    }
}

/// The number of random cases of a test, which is small by default.
///
/// An environment variable sets more for a long run.
package enum Rounds {
    package static func count(_ variable: String, default rounds: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? rounds
    }
}

extension SeededGenerator {
    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(self.next() % UInt64(elements.count))]
    }

    package mutating func chance(_ percent: UInt64) -> Bool { self.next() % 100 < percent }
}
