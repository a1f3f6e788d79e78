import Testing
import WaybillTestSupport

@testable import WaybillRouting

@Suite
struct CombiningMarksTests {
    @Test(arguments: [
        ("", true), (String(repeating: "a", count: 1000), true), (String(repeating: "é", count: 1000), true),
        (String(repeating: "e\u{301}", count: 1000), true), (String(repeating: "日本語", count: 1000), true),
        ("a" + String(repeating: "\u{301}", count: 30), true),
        ("a" + String(repeating: "\u{301}", count: 31), false),
        ("a" + String(repeating: "\u{301}\u{316}", count: 16), false),
        (String(repeating: "\u{1D165}", count: 40), false),
        (String(repeating: "\u{301}", count: 30) + "a" + String(repeating: "\u{301}", count: 30), true),
        (String(repeating: "x", count: 500) + String(repeating: "\u{5B0}\u{5B1}", count: 16), false),
    ])
    func `a text is accepted unless it has more than 30 combining marks in a row`(
        text: String,
        isAccepted: Bool
    ) {
        #expect(CombiningMarks.areFew(in: text) == isAccepted)
    }
}

@Suite
struct ExactTextTests {
    @Test
    func `texts are equal only when their bytes are equal`() {
        let composed = ExactText("\u{E9}")
        let decomposed = ExactText("e\u{301}")
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(composed == ExactText("\u{E9}"))
        #expect(composed.hashValue == ExactText("\u{E9}").hashValue)
        #expect(Set([composed, decomposed, ExactText("e\u{301}")]).count == 2)
    }

    @Test
    func `a long run of combining marks is hashed and compared in linear time`() {
        let marks = String(repeating: "\u{301}\u{316}", count: 80_000)
        let (first, second) = (ExactText("a" + marks), ExactText("b" + marks))
        let duration = ContinuousClock().measure {
            var numbers = [first: 1]
            numbers[second] = 2
            #expect(numbers[ExactText("a" + marks)] == 1 && numbers.count == 2)
        }
        #expect(duration < Scale.whileQuick * 5)
    }
}
