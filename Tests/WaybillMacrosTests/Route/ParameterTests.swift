#if Macros

import SwiftSyntax
import SwiftSyntaxBuilder
import Testing

@testable import WaybillMacros

@Suite
struct ParameterTests {
    @Test(arguments: [
        ("sending @escaping @Sendable () -> Void", "@Sendable () -> Void"),
        ("borrowing [Self.Item]?", "[A.Item]?"),
        (
            "nonisolated(nonsending) @escaping @Sendable () async -> Void",
            "nonisolated(nonsending) @Sendable () async -> Void"
        ),
        (
            "@escaping @Sendable nonisolated(nonsending) () async -> Void",
            "@Sendable nonisolated(nonsending) () async -> Void"
        ),
    ])
    func `the type of a value keeps only specifiers that belong to the type`(source: String, value: String) {
        let type = ValueType.plain(TypeSyntax(stringLiteral: source), in: "A")
        #expect(type.trimmedDescription == value)
    }

    @Test
    func `labels, aliases of Optional and closures are read correctly from parameters`() {
        expectExpansion(
            of: #"""
                @Module("app://a")
                actor A {
                    @Route("/:x") func kinds(
                        _ x: Int = 1 + 2,
                        of `in`: borrowing [Self.Item]?,
                        done: (@Sendable (Int) -> Void)? = nil,
                        then: @escaping @Sendable () -> Void = {},
                        message: Message
                    ) -> Self.Item { x }
                }
                """#,
            is: #"""
                actor A {
                    func kinds(
                        _ x: Int = 1 + 2,
                        of `in`: borrowing [Self.Item]?,
                        done: (@Sendable (Int) -> Void)? = nil,
                        then: @escaping @Sendable () -> Void = {},
                        message: Message
                    ) -> Self.Item { x }

                    nonisolated let context = Waybill.ModuleContext.current

                    static var url: String {
                        "app://a"
                    }

                    static var routes: [Waybill.ModuleRoute<A>] {
                        var routes: [Waybill.ModuleRoute<A>] = []
                        do {
                            let waybillBody = { @Sendable (waybillModule: isolated A, waybillMessage: Waybill.Message) -> A.Item in
                                try waybillModule.kinds(
                                    waybillMessage.argument("x") as Int? ?? (1 + 2),
                                    of: waybillMessage.argument("in") as [A.Item]?,
                                    done: waybillMessage.argument("done") as (@Sendable (Int) -> Void)?,
                                    then: waybillMessage.argument("then") as (@Sendable () -> Void)? ?? ({
                                        }),
                                    message: waybillMessage
                                )
                            }
                            #sourceLocation(file: "test.swift", line: 9)
                            routes.append(Waybill.ModuleRoute<A>(
                                "app://a/:x",
                                action: "kinds",
                                parameters: [
                                    .init("x", "Int", of: Int.self, default: "1 + 2"),
                                    .init("in", "[A.Item]?", of: [A.Item]?.self),
                                    .init("done", "(@Sendable (Int) -> Void)?", of: (@Sendable (Int) -> Void)?.self, default: "nil"),
                                    .init("then", "@Sendable () -> Void", of: (@Sendable () -> Void).self, default: "{}"),
                                ],
                                takesMessage: true,
                                waybillBody
                            ))
                            #sourceLocation()
                        }
                        return routes
                    }

                    enum urls {
                        static func kinds(_ x: Int = 1 + 2, of `in`: [A.Item]?, done: (@Sendable (Int) -> Void)? = nil, then: @escaping @Sendable () -> Void = {
                            }) -> Waybill.TypedURL<A.Item> {
                            #sourceLocation(file: "test.swift", line: 5)
                            Waybill.TypedURL<A.Item>("app://a/:x").with("x", x).with("in", `in`).with("done", done).with("then", then)
                            #sourceLocation()
                        }
                    }
                }

                extension A: Waybill.Module {
                }
                """#
        )
    }

    @Test
    func `a typed URL has the path parameters that only the message reads`() {
        expectExpansion(
            of: #"""
                @Module("app://a")
                actor A {
                    @Route("/<int:page>/:in/**rest") func open(_ message: Message) {}
                    @Route("/*/x") func unnamed(_ message: (Message)) {}
                    @Route func shown() {}
                }
                """#,
            is: #"""
                actor A {
                    func open(_ message: Message) {}
                    func unnamed(_ message: (Message)) {}
                    func shown() {}

                    nonisolated let context = Waybill.ModuleContext.current

                    static var url: String {
                        "app://a"
                    }

                    static var routes: [Waybill.ModuleRoute<A>] {
                        var routes: [Waybill.ModuleRoute<A>] = []
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/<int:page>/:in/**rest",
                                action: "open",
                                takesMessage: true
                            ) { waybillModule, waybillMessage -> Void in
                                waybillModule.open(
                                    waybillMessage
                                )
                            }
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/*/x",
                                action: "unnamed",
                                takesMessage: true
                            ) { waybillModule, waybillMessage -> Void in
                                waybillModule.unnamed(
                                    waybillMessage
                                )
                            }
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/shown",
                                action: "shown"
                            ) { waybillModule, _ -> Void in
                                waybillModule.shown()
                            }
                        )
                        return routes
                    }

                    enum urls {
                        static func open(page: Int, in: String, rest: String) -> Waybill.TypedURL<Void> {
                            Waybill.TypedURL<Void>("app://a/<int:page>/:in/**rest")
                                .with("page", page)
                                .with("in", `in`)
                                .with("rest", rest)
                        }

                        static func shown() -> Waybill.TypedURL<Void> {
                            Waybill.TypedURL<Void>(url: "app://a/shown")
                        }
                    }
                }

                extension A: Waybill.Module {
                }
                """#
        )
    }
}

#endif
