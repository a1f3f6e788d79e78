import Testing

@testable import WaybillRouting

@Suite
struct PoolTests {
    @Test
    func `removed routes leave no names, matchers or texts in the table`() throws {
        var table = RouteTable<Int>()
        for number in 0..<5_000 {
            let id = try table.insert("app://a/:name\(number)/x\(number)-:y", number)
            #expect(table.remove(id) == number)
        }
        #expect(table.isEmpty)
        #expect(table.trie.names.count < 1_000)
        #expect(table.trie.matchers.all.count < 1_000)
        #expect(table.trie.texts.bytes.count < 100_000)
    }

    @Test
    func `routes match as before after the pools are rebuilt`() throws {
        var table = RouteTable<Int>()
        try table.insert("app://keep/:id/z-:part", 7)
        for number in 0..<2_000 {
            table.remove(try table.insert("app://a/:name\(number)/x\(number)-:y", number))
        }
        let match = try #require(try table.match("app://keep/5/z-q"))
        #expect(table[match] == 7 && match.parameters["id"] == "5" && match.parameters["part"] == "q")
    }
}
