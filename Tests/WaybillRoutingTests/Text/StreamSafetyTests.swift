import Testing
import WaybillRouting

@Suite struct StreamSafetyTests {
    @Test(arguments: [
        ("", true), ("plain", true), ("é\u{301}\u{316}", true), ("한국어 茶", true),
        ("e" + String(repeating: "\u{301}", count: 30), true),
        ("e" + String(repeating: "\u{301}", count: 31), false),
        (String(repeating: "e\u{301}\u{316}", count: 1000), true),
        ("ascii " + String(repeating: "\u{316}\u{301}", count: 100_000), false),
    ])
    func `at most thirty combining marks may follow each other`(text: String, isSafe: Bool) {
        #expect(text.isStreamSafe == isSafe)
    }
}
