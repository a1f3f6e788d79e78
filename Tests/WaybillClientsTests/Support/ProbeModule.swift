#if Macros
import Foundation
import Waybill
import WaybillTestSupport

/// A value with a property of every kind that a document describes.
struct Everything: Codable, Equatable, Sendable {
    enum Side: String, Codable, CaseIterable { case left, right }

    enum Level: Int, Codable, CaseIterable {
        case low = 1
        case high = 9
    }

    struct Page<Element: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
        var items: [Element]
        var next: Int?
    }

    /// A property whose name is not ASCII.
    struct Named: Codable, Equatable, Sendable {
        enum CodingKeys: String, CodingKey { case size = "größe" }

        var size: Int
    }

    final class Tree: Codable, Equatable, Sendable {
        let label: String
        let left: Tree?
        let others: [Tree]

        init(label: String, left: Tree? = nil, others: [Tree] = []) {
            self.label = label
            self.left = left
            self.others = others
        }

        static func == (one: Tree, other: Tree) -> Bool {
            one.label == other.label && one.left == other.left && one.others == other.others
        }
    }

    var flag: Bool
    var byte: Int8
    var word: UInt32
    var whole: Int
    var large: UInt64
    var double: Double
    var float: Float
    var decimal: Decimal
    var text: String
    var note: String?
    var date: Date
    var dates: [Date]
    var uuid: UUID
    var link: URL
    var data: Data
    var side: Side
    var level: Level?
    var list: [[Int?]]
    var table: [String: [Decimal]]
    var page: Page<Page<Side>>
    var tree: Tree
    var named: Named
    var `class`: String

    /// Returns a random value.
    static func random(using generator: inout SeededGenerator) -> Everything {
        let texts = [
            "", "a", "größe", "\u{1F600}\n\"\\", "a/b?c#d&e=%", "\u{2028}",
            String(repeating: "x", count: 300),
        ]
        func text() -> String { texts.randomElement(using: &generator) ?? "" }
        func whole() -> Int {
            [0, 1, -1, .max, .min, 9_007_199_254_740_993].randomElement(using: &generator) ?? 0
        }
        func decimal() -> Decimal {
            let digits = [
                "0.1", "12345678901234567890.123456789", "-7", "99999999999999999999999999999999999999",
                "1.10",
            ]
            return Decimal(string: digits.randomElement(using: &generator) ?? "0") ?? 0
        }
        // JSON has milliseconds. A date represents eighths of a second exactly.
        func date() -> Date {
            Date(
                timeIntervalSince1970: Double(
                    Int.random(in: -8_000_000_000...64_000_000_000, using: &generator)
                ) / 8
            )
        }
        func side() -> Side { Side.allCases.randomElement(using: &generator) ?? .left }
        let page = Page(
            items: (0..<generator.number(below: 3)).map { _ in side() },
            next: generator.isOne(in: 2) ? nil : 3
        )
        return Everything(
            flag: generator.isOne(in: 2),
            byte: Int8.random(in: .min ... .max, using: &generator),
            word: UInt32.random(in: .min ... .max, using: &generator),
            whole: whole(),
            large: generator.isOne(in: 2) ? .max : UInt64(generator.number(below: 1000)),
            double: Double(
                bitPattern: 0x3FF0_0000_0000_0000 | UInt64.random(in: 0..<(1 << 52), using: &generator)
            ) * 1e17,
            float: Float.random(in: -1...1, using: &generator),
            decimal: decimal(),
            text: text(),
            note: generator.isOne(in: 2) ? nil : text(),
            date: date(),
            dates: [date()],
            uuid: UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID(),
            link: URL(string: "https://example.com/a?b=c%20d#e") ?? URL(filePath: "/"),
            data: Data(
                (0..<generator.number(below: 9)).map { _ in UInt8.random(in: .min ... .max, using: &generator)
                }
            ),
            side: side(),
            level: generator.isOne(in: 2) ? nil : .high,
            list: [[1, nil, whole()], []],
            table: ["__proto__": [decimal()], "größe": []],
            page: Page(items: [page], next: nil),
            tree: Tree(
                label: text(),
                left: Tree(label: "l"),
                others: [Tree(label: "o", others: [Tree(label: text())])]
            ),
            named: Named(size: whole()),
            class: text()
        )
    }
}

/// An offer of the module, which is a progress reply.
struct Offer: Codable, Sendable {
    let price: Decimal
    let side: Everything.Side
}

/// The answer to an offer.
struct Bid: Codable, Sendable {
    let price: Decimal
    let until: Date?
}

/// A module that clients of the tests call.
@Module("app://probe")
actor ProbeModule {
    private let received: Journal<Everything>
    private let notes: Journal<String>

    init(received: Journal<Everything>, notes: Journal<String>) {
        self.received = received
        self.notes = notes
    }

    /// Returns the value, and records it.
    @Route func echo(value: Everything) -> Everything {
        self.received.add(value)
        return value
    }

    /// Returns the parameters as text.
    @Route("/place/:text/<int:number>") func place(
        text: String,
        number: Int,
        side: Everything.Side = .left,
        sizes: [Double]?
    ) -> String {
        "\(text) \(number) \(side) \(sizes ?? [])"
    }

    /// Returns a placeholder that is repeated in the pattern.
    @Route("/twice/:id/and/:id") func twice(id: String) -> String { id }

    /// Returns a parameter whose name is also the name of a wildcard.
    @Route("/wild/*") func wild(any: String) -> String { any }

    /// Returns the path of a file.
    @Route("/files/**path") func files(path: String) -> String { path }

    /// Returns the values of the path as text.
    @Route("/captured/:data/:date/:uuid/:decimal") func captured(
        data: Data,
        date: Date,
        uuid: UUID,
        decimal: Decimal
    ) -> String {
        "\(Array(data)) \(date.timeIntervalSince1970) \(uuid) \(decimal)"
    }

    /// Sends numbers, and returns the sum of the answers.
    @Route func steps(count: Int, isAnswered: Bool, _ message: Message) async throws -> Int {
        var sum = 0
        for step in 1...count {
            if isAnswered {
                sum += try await message.reply(with: step, expecting: Int.self)
            } else {
                _ = await message.reply(with: step)
            }
        }
        return sum
    }

    /// Offers prices, and returns the bids as text.
    @Route func bargain(prices: [Decimal], progress: ProgressReplies<Offer, Bid>) async throws -> [String] {
        var bids: [String] = []
        for price in prices {
            let bid = try await progress.ask(Offer(price: price, side: .right))
            bids.append("\(bid.price) \(bid.until.map { "\($0.timeIntervalSince1970)" } ?? "-")")
        }
        return bids
    }

    /// Sends numbers without answers, and returns how many the caller has handled.
    @Route func count(to end: Int, progress: ProgressReplies<Int, Void>) async -> Int {
        var handled = 0
        for number in 1...end where await progress.send(number) { handled += 1 }
        return handled
    }

    /// Waits until it is cancelled.
    @Route func wait() async throws {
        self.notes.add("waits")
        do {
            try await Task.sleep(for: .seconds(60))
        } catch {
            self.notes.add("cancelled")
            throw error
        }
    }

    /// Fails with a declared error.
    @Route func fail(id: Int) throws(OrderError) -> Int { throw .unknown(id: id) }

    /// Records a note.
    @Route func note(text: String) { self.notes.add(text) }

    /// Records a value that arrives through a return URL.
    @Route func keep(_ message: Message) throws {
        self.notes.add("kept \(try message.payload(as: String.self))")
    }

    /// Returns the header of a trace.
    @Route func trace(_ message: Message) -> String { message.headers["traceparent"] ?? "" }
}
#endif
