import Testing

@testable import Shop

@Suite
struct ColumnsTests {
    @Test(arguments: [
        ("tea", 5, "tea  "), ("tea", 2, "te"), ("菜切", 4, "菜切"), ("菜切", 3, "菜 "), ("a菜", 2, "a "),
        ("", 2, "  "),
        ("a\u{1b}[31m", 6, "a·[31m"),
    ])
    func `a fitted text fills its columns, and no wide character is cut in half`(
        text: String,
        columns: Int,
        fitted: String
    ) {
        #expect(text.fitted(to: columns) == fitted)
        #expect(text.fitted(to: columns).displayWidth == columns)
    }

    @Test(arguments: [(0..<3, "a菜"), (1..<3, "菜"), (2..<5, " 切"), (2..<4, "  "), (5..<8, "b  ")])
    func `columns(_:) returns the part of a text in a range of columns`(range: Range<Int>, part: String) {
        #expect("a菜切b".columns(range) == part)
    }

    @Test func `lines wrap at spaces, and a word that is too long wraps anywhere`() {
        #expect("to be or not".wrapped(to: 6) == ["to be", "or not"])
        #expect("菜切包丁".wrapped(to: 5) == ["菜切", "包丁"])
        #expect("".wrapped(to: 5) == [""])
    }
}
