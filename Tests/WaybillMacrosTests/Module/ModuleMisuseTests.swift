#if Macros

import SwiftSyntaxMacrosGenericTestSupport
import Testing

@Suite
struct ModuleMisuseTests {
    @Test(arguments: ["class", "struct"])
    func `@Module on a class or a structure is an error with a fix`(keyword: String) {
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
    func `@Module on an enumeration is an error`() {
        expectMisuse(
            of: "@Module(\"app://a\")\nenum A {}",
            [DiagnosticSpec(message: "`@Module` can be attached only to an actor", line: 1, column: 1)]
        )
    }

    @Test
    func `@Module without a URL is an error with a fix`() {
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
    func `a URL of @Module that is not a literal or not a pattern is an error`(
        argument: String,
        message: String
    ) {
        expectMisuse(
            of: "@Module(\(argument))\nactor A {}",
            [DiagnosticSpec(message: message, line: 1, column: 9)]
        )
    }

    @Test
    func `a module that is generic, or inside of a generic type or function, is an error`() {
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
    func `a distributed module is an error`() {
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
        ("static func url() {}", "url", 13), ("static func routes() {}", "routes", 13),
        ("struct url {}", "url", 8), ("typealias routes = Int", "routes", 11),
    ])
    func `a member with the name of a generated one is an error`(member: String, name: String, column: Int) {
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

    @Test(arguments: [
        (
            "nonisolated let context = makeContext()", 17,
            "write the type of `context`: `@Module` cannot see whether it is `ModuleContext`"
        ),
        (
            "#if DEBUG\nlet context = 5\n#endif", 1,
            "`@Module` cannot see whether `context` is declared: move the declaration out of `#if`"
        ),
    ])
    func `a property context that may be the module's context or not is an error`(
        member: String,
        column: Int,
        message: String
    ) {
        expectMisuse(ofMember: member, [DiagnosticSpec(message: message, line: 3, column: column)])
    }

    @Test(arguments: ["func url() {}", "static func url(of name: String) {}", "func routes() {}"])
    func `a method that differs from a generated static property is not an error`(member: String) {
        expectMisuse(ofMember: member, [])
    }

    @Test
    func `two routes that match the same URLs are an error, unless no program has both`() {
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
    func `the error for two routes in different #if conditions mentions #else`() {
        expectMisuse(
            ofMember: """
                #if DEBUG
                @Route("/b") func one() {}
                #endif
                #if !DEBUG
                @Route("/b") func two() {}
                #endif
                """,
            [
                DiagnosticSpec(
                    message: "`two` matches the same URLs as `one`, whose pattern is app://a/b; if no build "
                        + "contains both, write them in the `#if` and `#else` of one condition",
                    line: 7,
                    column: 8,
                    notes: [NoteSpec(message: "`one` is here", line: 4, column: 8)]
                )
            ]
        )
    }

    @Test
    func `two methods without a typed URL may differ only in the label of the message`() {
        expectMisuse(
            ofMember: """
                @Route("/a/*") func glob(a message: Message) {}
                @Route("/b/*") func glob(b message: Message) {}
                """,
            []
        )
    }

    @Test
    func `@Route inside of #if in the attributes of a method is an error`() {
        expectMisuse(
            ofMember: "#if DEBUG\n@Route(\"/b\")\n#endif\nfunc one() {}",
            [
                DiagnosticSpec(
                    message:
                        "`@Module` cannot read an attribute inside of `#if`: write the condition around the whole method",
                    line: 3,
                    column: 1
                )
            ]
        )
    }

    @Test
    func `two methods that differ only in a message parameter are an error, as their typed URL is one`() {
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
