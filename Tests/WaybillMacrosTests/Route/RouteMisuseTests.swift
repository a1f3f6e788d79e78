#if Macros

import SwiftSyntaxMacrosGenericTestSupport
import Testing

@Suite
struct RouteMisuseTests {
    @Test(arguments: [
        (
            "@Route func x() {}", 1, 1, "func x() {}",
            "`@Route` can be attached only to a method of an actor with `@Module`"
        ),
        (
            "actor A {\n    @Route func x() {}\n}", 2, 5, "actor A {\n    func x() {}\n}",
            "`@Route` can be attached only to a method of an actor with `@Module`"
        ),
        (
            "extension A {\n    @Route func x() {}\n}", 2, 5, "extension A {\n    func x() {}\n}",
            "a route must be declared in the actor itself: `@Module` does not see its extensions"
        ),
        (
            "actor A {\n    @Route init() {}\n}", 2, 5, "actor A {\n    init() {}\n}",
            "`@Route` can be attached only to a method"
        ),
    ])
    func `@Route outside of a module's methods is an error with a fix`(
        source: String,
        line: Int,
        column: Int,
        fixed: String,
        message: String
    ) {
        expectMisuse(
            of: source,
            [
                DiagnosticSpec(
                    message: message,
                    line: line,
                    column: column,
                    fixIts: [FixItSpec(message: "remove `@Route`")]
                )
            ],
            fixed: fixed
        )
    }

    @Test(arguments: ["private", "fileprivate"])
    func `a private route is an error with a fix`(modifier: String) {
        expectMisuse(
            ofMember: "@Route \(modifier) func x() {}",
            [
                DiagnosticSpec(
                    message:
                        "every caller can use the URL of a route, so its method cannot be `\(modifier)`",
                    line: 3,
                    column: 8,
                    fixIts: [FixItSpec(message: "remove `\(modifier)`")]
                )
            ],
            fixed: "@Route func x() {}"
        )
    }

    @Test(arguments: [
        (
            "@Route(path) func x() {}", 8,
            "the path must be a string literal without interpolation, because the compiler checks it"
        ),
        (
            "@Route(\"/\\(x)\") func x() {}", 8,
            "the path must be a string literal without interpolation, because the compiler checks it"
        ),
        (
            "@Route(\"/<foo:x>\") func x() {}", 8,
            "`foo` is not a type; the types are string, int, double, bool, uuid and path"
        ),
        (
            "@Route(\"app://other/:x(\") func x() {}", 8,
            "the path has the parameter `x`, but the method `x` has no parameter of that name"
        ),
        ("@Route func x<T>() {}", 14, "a route cannot be generic: a URL cannot contain the type argument"),
        (
            "@Route func x() -> [some Sendable] { [1] }", 21,
            "a route cannot return an opaque type, because its caller names the type of the reply"
        ),
        (
            "@Route func x(y: some Sendable) {}", 18,
            "a route's parameter must have one concrete type, not `some`"
        ),
        ("@Route func x(_: Int) {}", 15, "the parameter needs a name, by which the URL passes its value"),
        (
            "@Route func x(y: @autoclosure () -> Int) {}", 18,
            "a message contains values, so a parameter cannot be an autoclosure"
        ),
        (
            "@Route func x(y: isolated (any Actor)?) {}", 18,
            "a route runs on the loop of its module, so a parameter cannot be `isolated`"
        ),
        (
            "@Route func x(y: ProgressReplies<Int, Void>, z: ProgressReplies<Int, Bool>) async {}", 49,
            "a route has one type of progress replies: use one parameter, with an enumeration as `Update`"
        ),
        (
            "@Route func x(y: ProgressReplies<Int, Void>?) async {}", 18,
            "a message contains no progress replies: write the type `ProgressReplies<Update, Answer>` alone"
        ),
        (
            "@available(*, unavailable) @Route func x() {}", 1,
            "a route cannot be unavailable, since messages call it"
        ),
        (
            "@available(*, deprecated, message: \"\") @Route func x() {}", 1,
            "a route cannot be deprecated: the compiler would warn of the call that `@Module` writes; "
                + "write in the documentation comment that the method is deprecated"
        ),
        (
            "@Route @Route(\"/y\") func x() {}", 8,
            "a method is one route: write a second method for another URL, and call this method in it"
        ),
        (
            "@Route(\"/x?y=:y\") func x(y: Int) {}", 8,
            "a path ends before `?`, because the parameters of the method are read from the query: remove `?` "
                + "and the text after it"
        ),
        (
            "@Route(\"/x#y\") func x() {}", 8,
            "a path ends before `#`, because a fragment is a return URL: remove `#` and the text after it"
        ),
    ])
    func `a route on a method that no message can call is an error`(
        member: String,
        column: Int,
        message: String
    ) {
        let hasFix = message.hasPrefix("the path has the parameter")
        expectMisuse(
            ofMember: member,
            [
                DiagnosticSpec(
                    message: message,
                    line: 3,
                    column: column,
                    fixIts: hasFix ? [FixItSpec(message: "add a parameter `x`")] : []
                )
            ]
        )
    }

    @Test(arguments: [
        Fixed(
            "@Route static func x() {}",
            "@Route func x() {}",
            8,
            "a route must be an instance method of the module, not a static method",
            "remove `static`"
        ),
        Fixed(
            "@Route func x(y: inout Int) {}",
            "@Route func x(y: Int) {}",
            18,
            "a value from a message cannot be `inout`",
            "remove `inout`"
        ),
        Fixed(
            "@Route func x(message: Message?) {}",
            "@Route func x(message: Message) {}",
            24,
            "the message is never nil, so its parameter cannot be an Optional",
            "write `Message`"
        ),
        Fixed(
            "@Route func x(message: Optional<Waybill.Message>) {}",
            "@Route func x(message: Message) {}",
            24,
            "the message is never nil, so its parameter cannot be an Optional",
            "write `Message`"
        ),
        Fixed(
            "@Route func x(y: Int...) {}",
            "@Route func x(y: [Int]) {}",
            21,
            "a route cannot have a variadic parameter: use an array",
            "make it an array"
        ),
        Fixed(
            "@Route func x(y: (Int) -> Void) {}",
            "@Route func x(y: @escaping @Sendable (Int) -> Void) {}",
            18,
            "a closure that is passed in a message must be `@Sendable`",
            "add `@Sendable`"
        ),
        Fixed(
            "@Route func x(y: @escaping () -> Void) {}",
            "@Route func x(y: @Sendable @escaping () -> Void) {}",
            28,
            "a closure that is passed in a message must be `@Sendable`",
            "add `@Sendable`"
        ),
        Fixed(
            "@Route(\"/:uid/<int:n>\") func x(n: Int) {}",
            "@Route(\"/:uid/<int:n>\") func x(n: Int, uid: String) {}",
            8,
            "the path has the parameter `uid`, but the method `x` has no parameter of that name",
            "add a parameter `uid`"
        ),
        Fixed(
            "@Route(\"/<int:n>\") func x() {}",
            "@Route(\"/<int:n>\") func x(n: Int) {}",
            8,
            "the path has the parameter `n`, but the method `x` has no parameter of that name",
            "add a parameter `n`"
        ),
        Fixed(
            "@Route func x(y: ProgressReplies<Int, Void>) {}",
            "@Route func x(y: ProgressReplies<Int, Void>) async {}",
            18,
            "each progress reply waits for the caller, so the method must be `async`",
            "add `async`"
        ),
        Fixed(
            "@Route func x(y: Waybill.ProgressReplies<Int, Void>) throws -> Int { 1 }",
            "@Route func x(y: Waybill.ProgressReplies<Int, Void>) async throws -> Int { 1 }",
            18,
            "each progress reply waits for the caller, so the method must be `async`",
            "add `async`"
        ),
    ])
    func `each mistake in a route's method has a fix`(_ mistake: Fixed) {
        expectMisuse(
            ofMember: mistake.member,
            [
                DiagnosticSpec(
                    message: mistake.message,
                    line: 3,
                    column: mistake.column,
                    fixIts: [FixItSpec(message: mistake.fix)]
                )
            ],
            fixed: mistake.fixed
        )
    }

    struct Fixed: Sendable {
        let member: String
        let fixed: String
        let column: Int
        let message: String
        let fix: String

        init(_ member: String, _ fixed: String, _ column: Int, _ message: String, _ fix: String) {
            self.member = member
            self.fixed = fixed
            self.column = column
            self.message = message
            self.fix = fix
        }
    }
}

#endif
