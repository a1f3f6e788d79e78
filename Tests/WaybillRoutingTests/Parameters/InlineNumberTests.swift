import Testing

@testable import WaybillRouting

/// A number beside a URL is what the same number in the URL, or passed with the call, would be.
@Suite
struct InlineNumberTests {
    private static let names = [
        "a", "uid", "sevenxx", "eight_ch", "nine_char", "fifteen_chars_x", "Ä", "n m", "a&b=c%",
    ]

    private func table() throws -> RouteTable<Int> {
        var table = RouteTable<Int>(conventions: .waybill, defaultScheme: "app")
        try table.insert("app://user/detail", 1)
        try table.insert("app://user/:name/open", 2)
        return table
    }

    private func match(_ url: String, _ number: InlineNumber?) throws -> Parameters? {
        let match = try self.table().match(url, #require(number))
        return match.isFound ? match.parameters : nil
    }

    /// The value, or what is wrong with it.
    private func read<Value: LosslessStringConvertible>(
        _ name: String,
        as type: Value.Type,
        _ parameters: Parameters
    ) -> String {
        do { return "\(String(describing: try parameters.value(name, as: type)))" } catch {
            return "\(error)"
        }
    }

    private func expectEqual(_ left: Parameters, _ right: Parameters, _ name: String) {
        #expect(left.url == right.url && left.address.text == right.address.text)
        #expect(left.address == right.address && left.hasFragment == right.hasFragment)
        #expect(left.query == right.query && left.path == right.path && left.all == right.all)
        #expect(left.call.mapValues { "\($0)" } == right.call.mapValues { "\($0)" })
        for name in [name, "other", "", name + "x", String(repeating: "y", count: 256 + name.utf8.count)] {
            #expect(left[name] == right[name] && left.all(name) == right.all(name))
            #expect(self.read(name, as: Int.self, left) == self.read(name, as: Int.self, right))
            #expect(self.read(name, as: String.self, left) == self.read(name, as: String.self, right))
            #expect(self.read(name, as: Double.self, left) == self.read(name, as: Double.self, right))
            #expect("\(left.missing(name, Int.self))" == "\(right.missing(name, Int.self))")
        }
    }

    @Test(arguments: Self.names, [0, 7, -1, Int.min, Int.max])
    func `in the query it is what its text would be`(name: String, number: Int) throws {
        let table = try self.table()
        let url = "app://user/detail"
        let written = try #require(try table.match("\(url)?\(Address.encode(name))=\(number)")).parameters
        let beside = try #require(try self.match(url, InlineNumber(name, number, in: .query)))
        self.expectEqual(beside, written, name)
        for values: [String: any Sendable] in [["x": 1], [name: "later"], [:]] {
            self.expectEqual(beside.merging(call: values), written.merging(call: values), name)
            var (one, other) = (beside, written)
            one.call = values
            other.call = values
            self.expectEqual(one, other, name)
        }
    }

    @Test(arguments: Self.names, [0, 7, -1, Int.min, Int.max])
    func `passed it is what a value of the call would be`(name: String, number: Int) throws {
        let plain = try #require(try self.table().match("app://user/detail")).parameters
        let passed = plain.merging(call: [name: number])
        let beside = try #require(try self.match("app://user/detail", InlineNumber(name, number, in: .call)))
        self.expectEqual(beside, passed, name)
        for values: [String: any Sendable] in [["x": 1], [name: "later"], [:]] {
            self.expectEqual(beside.merging(call: values), passed.merging(call: values), name)
            var (one, other) = (beside, passed)
            one.call = values
            other.call = values
            self.expectEqual(one, other, name)
        }
    }

    @Test(arguments: [
        "app://user/detail?x=1", "app://user/detail#end", "app://user/lili/open", "app://nobody", "",
        "app:///user/detail/", "app://user/detail%20",
    ])
    func `a URL that is not a pattern as it is written takes the general way`(url: String) throws {
        #expect(try self.match(url, InlineNumber("uid", 1, in: .query)) == nil)
        #expect(try self.match(url, InlineNumber("uid", 1, in: .call)) == nil)
    }

    @Test
    func `so do other conventions, and a URL that the number could make too long`() throws {
        let number = try #require(InlineNumber("uid", 1, in: .query))
        let changes: [(inout RoutingConventions) -> Void] = [
            { $0.segmentsIgnoreCase = true }, { $0.duplicateQueryNames = .firstWins },
            { $0.precedence = .queryBeforePath }, { $0.keepsQueryNamesWithoutValue = false },
        ]
        for change in changes {
            var conventions = RoutingConventions.waybill
            change(&conventions)
            var table = RouteTable<Int>(conventions: conventions, defaultScheme: "app")
            try table.insert("app://user/detail", 1)
            let match = table.match("app://user/detail", number)
            #expect(!match.isFound)
        }
        var limits = RoutingLimits.default
        limits.urlLength = 40
        var table = RouteTable<Int>(conventions: .waybill, defaultScheme: "app", limits: limits)
        try table.insert("app://user/detail", 1)
        #expect(try table.match("app://user/detail") != nil)
        let match = table.match("app://user/detail", number)
        #expect(!match.isFound)
    }

    @Test
    func `a name that has no place in two words is refused`() {
        #expect(InlineNumber("", 1, in: .call) == nil)
        #expect(InlineNumber("sixteen_chars_xx", 1, in: .call) == nil)
    }
}
