#if Macros

import SwiftSyntaxMacrosGenericTestSupport
import Testing

@Suite
struct ModuleMisuseTests {
    @Test(arguments: ["class", "struct"])
    func `a module is an actor`(keyword: String) {
        expectMisuse(
            of: "@Module(\"app://a\")\n\(keyword) A {\n    @Route func x() {}\n}",
            [
                DiagnosticSpec(
                    message: "a module must be an actor, so that it can run on the loop of its bus",
                    line: 2,
                    column: 1,
                    fixIts: [FixItSpec(message: "change it to an actor")]
                )
            ],
            fixed: "@Module(\"app://a\")\nactor A {\n    @Route func x() {}\n}"
        )
    }

    @Test
    func `an enumeration cannot become an actor`() {
        expectMisuse(
            of: "@Module(\"app://a\")\nenum A {}",
            [DiagnosticSpec(message: "`@Module` can be attached only to an actor", line: 1, column: 1)]
        )
    }

    @Test
    func `a module has a URL`() {
        expectMisuse(
            of: "@Module\nactor UserModule {}",
            [
                DiagnosticSpec(
                    message: "write the base URL of the module's routes: @Module(\"app://user\")",
                    line: 1,
                    column: 1,
                    fixIts: [FixItSpec(message: "write `@Module(\"app://user\")`")]
                )
            ],
            fixed: "@Module(\"app://user\")\nactor UserModule {}"
        )
    }

    @Test(arguments: [
        (#""app://\(x)""#, Sentence.literal), ("url", Sentence.literal),
        (
            #""app://a?x""#,
            "the base URL of a module cannot contain `?`, because the paths of its routes are appended to it: "
                + "remove `?` and the text after it"
        ),
        (
            #""app://a#x""#,
            "the base URL of a module cannot contain `#`, because the paths of its routes are appended to it: "
                + "remove `#` and the text after it"
        ),
        (#""""#, "an empty text is not a pattern"),
        (#""app://<foo:x>""#, "`foo` is not a type; the types are string, int, double, bool, uuid and path"),
    ])
    func `the URL is a literal and a pattern`(argument: String, message: String) {
        expectMisuse(
            of: "@Module(\(argument))\nactor A {}",
            [DiagnosticSpec(message: message, line: 1, column: 9)]
        )
    }

    @Test
    func `a module is not generic, and inside of nothing generic`() {
        expectMisuse(
            of: "@Module(\"app://a\")\nactor A<T> {}",
            [DiagnosticSpec(message: "a module cannot be generic: \(Sentence.again)", line: 2, column: 8)]
        )
        expectMisuse(
            of: "struct Box<T> {\n    @Module(\"app://a\")\n    actor A {}\n}",
            [
                DiagnosticSpec(
                    message:
                        "a module cannot be declared inside a generic type or function: \(Sentence.again)",
                    line: 3,
                    column: 11
                )
            ]
        )
    }

    @Test
    func `a module is not distributed`() {
        expectMisuse(
            of: "@Module(\"app://a\")\ndistributed actor A {}",
            [
                DiagnosticSpec(
                    message: "a module cannot be a distributed actor: its callers use URLs",
                    line: 2,
                    column: 1
                )
            ]
        )
    }

    @Test(arguments: [
        ("func urls() {}", "urls", 6), ("var urls = 1", "urls", 5), ("enum urls {}", "urls", 6),
        ("static let url = 1", "url", 12), ("static var routes = 1", "routes", 12),
    ])
    func `generated names do not collide with names of the program`(member: String, name: String, column: Int)
    {
        expectMisuse(
            ofMember: member,
            [
                DiagnosticSpec(
                    message: "`@Module` generates a member `\(name)`: rename this declaration",
                    line: 3,
                    column: column
                )
            ]
        )
    }

    @Test
    func `routes that match the same URLs are told, unless no program has both`() {
        expectMisuse(
            ofMember: """
                @Route("/a/:x") func one(x: Int) {}
                @Route("/a/:y") func two(y: Int) {}
                #if DEBUG
                @Route("/b") func three() {}
                #else
                @Route("/b") func four() {}
                #endif
                """,
            [
                DiagnosticSpec(
                    message: "`two` matches the same URLs as `one`, whose pattern is app://a/a/:x",
                    line: 4,
                    column: 8,
                    notes: [NoteSpec(message: "`one` is here", line: 3, column: 8)]
                )
            ]
        )
    }

    @Test
    func `methods that differ in their messages only have one typed URL`() {
        expectMisuse(
            ofMember: "@Route(\"/b\") func one(_ message: Message) {}\n@Route(\"/c\") func one() {}",
            [
                DiagnosticSpec(
                    message: "this method would have the same typed URL as another `one`: rename one of them",
                    line: 4,
                    column: 19,
                    notes: [NoteSpec(message: "the other method", line: 3, column: 19)]
                )
            ]
        )
    }
}

private enum Sentence {
    static let literal =
        "the URL must be a string literal without interpolation, because the compiler checks the routes"
    static let again = "each type argument would register the same routes again"
}

#endif
