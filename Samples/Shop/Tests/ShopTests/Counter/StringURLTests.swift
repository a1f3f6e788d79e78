import Testing

@testable import Shop

@Suite
struct StringURLTests {
    @Test(arguments: [("", ""), (" \t ", ""), (" a b\t", "a b"), ("茶 ", "茶")])
    func `blanks around a URL do not count`(text: String, trimmed: String) {
        #expect(text.trimmed == trimmed)
    }

    @Test(arguments: [
        ("app://cart/show?session=x", true), ("a?b=1&session=", true), ("app://cart/show", false),
        ("app://session=x/y", false), ("a?mysession=1", false), ("a?&&sess", false),
    ])
    func `a URL may name its session`(url: String, names: Bool) { #expect(url.namesSession == names) }
}
