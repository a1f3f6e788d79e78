import Testing

@testable import Shop

@Suite
struct StringURLTests {
    @Test(arguments: [("", ""), (" \t ", ""), (" a b\t", "a b"), ("茶 ", "茶")])
    func `blanks around a URL are trimmed`(text: String, trimmed: String) {
        #expect(text.trimmed == trimmed)
    }

    @Test(arguments: [
        ("app://cart/show?session=x", true), ("a?b=1&session=", true), ("app://cart/show", false),
        ("app://session=x/y", false), ("a?mysession=1", false), ("a?&&sess", false),
    ])
    func `namesSession is true for a URL with a session parameter`(url: String, names: Bool) {
        #expect(url.namesSession == names)
    }
}
