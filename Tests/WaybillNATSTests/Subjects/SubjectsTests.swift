import Testing
import WaybillNATSTestSupport
import WaybillRouting
import WaybillTestSupport

@testable import WaybillNATS

struct SubjectsTests {
    private let subjects = Subjects(realm: "shop")

    @Test(arguments: [
        ("plain", "plain"), ("", "%"), ("a.b", "a%2Eb"), ("*", "%2A"), (">", "%3E"), ("%", "%25"),
        ("a b", "a%20b"), ("ü", "%C3%BC"), ("\n", "%0A"), ("~:@!$&'()+,;=", "~:@!$&'()+,;="),
    ])
    func `special characters are encoded in a subject's token`(text: String, token: String) {
        #expect(Subjects.token(text) == token)
    }

    @Test(arguments: [
        ("app://user/:id", "app://user/:name", true), ("app://user/:id", "app://user/*", true),
        ("app://user/:id", "app://user/<int:id>", false), ("app://user/:id", "app://user/me", false),
        ("app://user/:id", "app://user/%3A", false), ("app://files/**", "app://files/*", false),
        ("app://user/:id.jpg", "app://user/*.jpg", true), ("app://user/:a([a-z])", "app://user/:a(b)", false),
        ("app://user/%3Cint%3E:a", "app://user/<int:b>:a", false), ("app://a(/b)/c", "app://a/b(/c)", false),
        ("app://user/:id", "web://user/:id", false), ("app://files/**", "app://files/{*path}", false),
    ])
    func `patterns of the same shape have the same subject`(first: String, second: String, isOne: Bool) throws
    {
        let subjects = try [first, second].map { self.subjects.call(PatternShape(try RoutePattern($0))) }
        #expect((subjects[0] == subjects[1]) == isOne)
    }

    @Test func `a long pattern has a short subject, and all long URLs share one`() throws {
        let long = "app://" + (0..<60).map { "segment-\($0)" }.joined(separator: "/")
        let subject = self.subjects.call(PatternShape(try RoutePattern(long)))
        #expect(subject.utf8.count < 100)
        #expect(subject != self.subjects.call(PatternShape(try RoutePattern(long + "x"))))
        #expect(self.subjects.publication(try Address(long)) == self.subjects.longPublications)
    }

    @Test(arguments: [
        ("app://a/:b", ["app.a.*"]), ("app://a/**", ["app.a.>"]), ("app://a/**/z", ["app.a.>"]),
        ("app://a/v<int:n>.json", ["app.a.*"]), ("app://a/b.c", ["app.a.b%2Ec"]),
    ])
    func `a pattern's subscriptions cover each URL that it matches`(
        pattern: String,
        wanted: [String]
    ) throws {
        let subjects = self.subjects.publications(of: try RoutePattern(pattern))
        #expect(subjects == wanted.map { "waybill.shop.pub.\($0)" } + [self.subjects.longPublications])
    }

    @Test(arguments: [
        (["a.b", "a.b.c", "a.d"], ["a.b", "a.b.c", "a.d"]), (["a.>", "a.b", "a.b.>", "a"], ["a", "a.>"]),
        (["a.*", "a.b", "a.b.c"], ["a.*", "a.b.c"]), (["a.*.c", "a.b.*"], ["a.*.*"]),
        (["a.*.last", "a.news.>", "a.old.first"], ["a.*.>"]),
        (["*.health", "billing.health", "billing.invoices.>"], ["*.health", "billing.invoices.>"]),
        (["*.a.x", "b.*.c", "b.a.*", "d.e"], ["*.*.*", "d.e"]), (["a.*.b", "a.>", "b.*"], ["a.>", "b.*"]),
    ])
    func `subjects that overlap are replaced by subjects that do not`(subjects: [String], cover: [String]) {
        #expect(SubjectCover(subjects).subjects.sorted() == cover)
        #expect(SubjectCover(subjects.reversed()).subjects.sorted() == cover)
    }

    @Test(arguments: 0..<20)
    func `a message of overlapping subjects matches one subject of their cover`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed + 1)
        func subject(_ tokens: [String], _ ends: [String]) -> String {
            let start = (0..<Int.random(in: 0..<3, using: &generator)).map { _ in
                tokens.randomElement(using: &generator)!
            }
            return (start + [ends.randomElement(using: &generator)!]).joined(separator: ".")
        }
        for _ in 0..<100 {
            let subjects = (0..<Int.random(in: 1..<6, using: &generator)).map { _ in
                subject(["a", "b", "*"], ["a", "b", "*", ">"])
            }
            let cover = SubjectCover(subjects).subjects
            for _ in 0..<20 {
                let message = subject(["a", "b", "c"], ["a", "b", "c"])
                let isWanted = subjects.contains { MemoryServer.matches($0, message) }
                let count = cover.count { MemoryServer.matches($0, message) }
                #expect(isWanted ? count == 1 : count <= 1, "\(subjects) \(cover) \(message)")
            }
        }
    }

    @Test func `an inbox subject contains its node and its request, and other subjects do not`() throws {
        let node = NodeID.random()
        let found = try #require(self.subjects.request(ofInbox: self.subjects.inbox(node, 42)))
        #expect(found == (node, 42))
        #expect(self.subjects.node(in: self.subjects.node(node)) == node)
        for subject in [
            "", "waybill.shop.inbox.", "waybill.other.inbox.\(node).42", "waybill.shop.inbox.\(node).x",
            "waybill.shop.inbox.\(node).1.2", "waybill.shop.inbox.A B.1", "_INBOX.x.1",
            "waybill.shop.inbox.\(node)", "waybill.shop.inbox.\(node).", "waybill.shop.inbox..1",
            "waybill.shop.inbox.\(node).99999999999999999999",
            "waybill.shop.inbox.\(String(repeating: "a", count: 33)).1",
        ] {
            #expect(self.subjects.request(ofInbox: subject) == nil)
        }
    }

    @Test func `a realm is one token of a subject, whatever its name`() {
        #expect(Subjects(realm: "a.b.>").nodes == "waybill.a%2Eb%2E%3E.nodes")
    }
}
