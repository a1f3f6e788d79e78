#if Macros

import SwiftDiagnostics
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@Suite
struct ServiceMisuseTests {
    @Test(arguments: ["struct", "actor", "class", "enum"])
    func `@Service on anything but a protocol is an error`(kind: String) {
        expectMisuse(
            of: "@Service(\"app://a\")\n\(kind) A {\n}",
            [DiagnosticSpec(message: "`@Service` can be attached only to a protocol", line: 1, column: 1)]
        )
    }

    @Test(arguments: [
        ("TimeService", "time"), ("PriceListService", "price-list"), ("Service", "service"),
        ("Clock", "clock"),
    ])
    func `@Service without a URL suggests one`(name: String, path: String) {
        let written = "@Service(\"app://\(path)\")"
        expectMisuse(
            of: "@Service\npublic protocol \(name): Sendable {\n}",
            [
                DiagnosticSpec(
                    message: "write the base URL of the service's methods: \(written)",
                    line: 1,
                    column: 1,
                    fixIts: [FixItSpec(message: "write `\(written)`")]
                )
            ],
            fixed: "\(written)\npublic protocol \(name): Sendable {\n}"
        )
    }

    @Test
    func `a service that is not Sendable is an error with a fix`() {
        expectMisuse(
            of: "@Service(\"app://a\")\nprotocol A {\n}",
            [
                DiagnosticSpec(
                    message: "a service must inherit from `Sendable`, because all callers share one proxy",
                    line: 2,
                    column: 10,
                    fixIts: [FixItSpec(message: "add `Sendable`")]
                )
            ],
            fixed: "@Service(\"app://a\")\nprotocol A: Sendable {\n}"
        )
    }

    @Test(arguments: ["", "private ", "fileprivate ", "internal "])
    func `a service with less than package access has a warning about the optimizer`(access: String) {
        expectMisuse(
            of: "@Service(\"app://a\")\n\(access)protocol A: Sendable {\n}",
            [
                DiagnosticSpec(
                    message:
                        "make `A` `package` or `public`: otherwise an optimized build replaces every "
                        + "`any A` with the only module that provides it, and calls bypass the bus",
                    line: 2,
                    column: 10 + access.count,
                    severity: .warning
                )
            ]
        )
    }

    @Test
    func `a service that inherits from another protocol is an error`() {
        expectMisuse(
            of: "@Service(\"app://a\")\nprotocol A: Sendable, B {\n}",
            [
                DiagnosticSpec(
                    message:
                        "a service can inherit only from `Sendable`: the macro cannot see the requirements of `B`",
                    line: 2,
                    column: 23
                )
            ]
        )
    }

    @Test
    func `a service that is not at file level is an error`() {
        expectMisuse(
            of: "enum Outer {\n@Service(\"app://a\")\nprotocol A: Sendable {\n}\n}",
            [
                DiagnosticSpec(
                    message:
                        "a service must be declared at file level, where the modules that provide it can use its routes",
                    line: 3,
                    column: 10
                )
            ]
        )
    }

    @Test(arguments: [
        (
            "\"app://a?b\"",
            "the base URL of a service cannot contain `?`, because the paths of its methods are appended to it: "
                + "remove `?` and the text after it"
        ),
        (
            "\"app://:id/a\"",
            "a service's URL cannot have parameters, but this one has `id`: callers of the service would not know the value"
        ),
        (
            "url",
            "the URL must be a string literal without interpolation, because the compiler checks the routes"
        ),
    ])
    func `an example's URL that no message can call is an error`(url: String, message: String) {
        expectMisuse(
            of: "@Service(\(url))\nprotocol A: Sendable {\n}",
            [DiagnosticSpec(message: message, line: 1, column: 10)]
        )
    }

    @Test(arguments: [
        ("func a()", "func a() async throws"),
        ("func a(b: Int) -> Int", "func a(b: Int) async throws -> Int"),
        ("func a() async -> Int", "func a() async throws -> Int"),
        ("func a() throws -> Int", "func a() async throws -> Int"),
    ])
    func `a service's method that is not async throws is an error with a fix`(method: String, fixed: String) {
        self.expectRefusal(
            ofRequirement: method,
            "a service's methods must be `async throws`: each call is a message, which takes time and may fail",
            column: 6,
            fix: ("make it `async throws`", fixed)
        )
    }

    @Test func `a service's method that is deprecated is an error`() {
        expectMisuse(
            of:
                "@Service(\"app://a\")\nprotocol A: Sendable {\n@available(*, deprecated) func a() async throws\n}",
            [
                DiagnosticSpec(
                    message:
                        "a service's method cannot be deprecated: the compiler would warn of the call that "
                        + "`@Service` writes; write in the documentation comment that the method is deprecated",
                    line: 3,
                    column: 1
                )
            ]
        )
    }

    @Test
    func `a service's method with a typed throw is an error with a fix`() {
        self.expectRefusal(
            ofRequirement: "func a() async throws(Oops) -> Int",
            "a service's methods must be `async throws` without a type: a call may also throw a `RoutingError`",
            column: 6,
            fix: ("make it `async throws`", "func a() async throws -> Int")
        )
    }

    @Test(arguments: [
        (
            "var a: Int { get }",
            "a service can have only methods, because a message takes time and may fail: make the property a method that is `async throws`",
            1
        ),
        (
            "associatedtype A",
            "a service cannot be generic: a URL cannot contain the type argument", 1
        ),
        ("init()", "a service can have only methods", 1),
        (
            "func a<T>(b: T) async throws",
            "a service's methods cannot be generic: a URL cannot contain the type argument", 7
        ),
        (
            "func a() async throws -> Self",
            "`Self` cannot be used: for the caller it would be the proxy, and for the handler the module",
            26
        ),
        ("func a(b: inout Int) async throws", "a value from a message cannot be `inout`", 11),
        (
            "func a(_ b: Message) async throws",
            "a service's method cannot have a `Message` parameter, because callers do not have one: use other parameters",
            13
        ),
        (
            "func a(b: ProgressReplies<Int, Void>) async throws",
            "a service's method cannot have a `ProgressReplies` parameter, because callers do not have one: use other parameters",
            11
        ),
    ])
    func `a service's method that no message can call is an error`(
        member: String,
        message: String,
        column: Int
    ) {
        let fixes = member.contains("inout") ? [FixItSpec(message: "remove `inout`")] : []
        expectMisuse(
            of: "@Service(\"app://a\")\nprotocol A: Sendable {\n\(member)\n}",
            [DiagnosticSpec(message: message, line: 3, column: column, fixIts: fixes)]
        )
    }

    @Test(arguments: [
        ("static", "a message calls an instance, so the method cannot be static"),
        ("mutating", "a proxy does not change when it sends a message, so the method cannot be mutating"),
    ])
    func `a mutating or static method of a service is an error with a fix`(word: String, message: String) {
        self.expectRefusal(
            ofRequirement: "\(word) func a() async throws",
            message,
            column: 1,
            fix: ("remove `\(word)`", "func a() async throws")
        )
    }

    @Test
    func `a closure parameter that is not escaping or not Sendable is an error with a fix`() {
        self.expectRefusal(
            ofRequirement: "func a(b: @Sendable () -> Void) async throws",
            "a closure that is passed in a message must be `@escaping`",
            column: 11,
            fix: ("add `@escaping`", "func a(b: @escaping @Sendable () -> Void) async throws")
        )
        self.expectRefusal(
            ofRequirement: "func a(b: () -> Void) async throws",
            "a closure that is passed in a message must be `@Sendable`",
            column: 11,
            fix: ("add `@Sendable`", "func a(b: @escaping @Sendable () -> Void) async throws")
        )
    }

    @Test
    func `two methods of a service with the same name are an error`() {
        expectMisuse(
            of: """
                @Service("app://a")
                protocol A: Sendable {
                func b(c: Int) async throws
                func b(d: Int) async throws
                }
                """,
            [
                DiagnosticSpec(
                    message: "this method would have the same URL as another `b`: rename one of them",
                    line: 4,
                    column: 6,
                    notes: [NoteSpec(message: "the other method", line: 3, column: 6)]
                )
            ]
        )
    }

    private func expectRefusal(
        ofRequirement member: String,
        _ message: String,
        column: Int,
        fix: (message: String, member: String),
        location: Testing.SourceLocation = #_sourceLocation
    ) {
        func service(_ member: String) -> String {
            "@Service(\"app://a\")\nprotocol A: Sendable {\n\(member)\n}"
        }
        expectMisuse(
            of: service(member),
            [
                DiagnosticSpec(
                    message: message,
                    line: 3,
                    column: column,
                    fixIts: [FixItSpec(message: fix.message)]
                )
            ],
            fixed: service(fix.member),
            location: location
        )
    }
}

#endif
