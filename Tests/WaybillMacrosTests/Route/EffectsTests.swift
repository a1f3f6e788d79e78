#if Macros

import Testing

@Suite
struct EffectsTests {
    @Test
    func `the generated code has try and await only where the method needs them`() {
        expectExpansion(
            of: #"""
                @Module("app://a")
                actor A {
                    @Route func plain() -> Int { 1 }
                    @Route func throwing() throws -> Int { 1 }
                    @Route func never() throws(Never) -> Int { 1 }
                    @Route func late() async throws -> Int { 1 }
                    @Route @MainActor func main() {}
                }
                """#,
            is: #"""
                actor A {
                    func plain() -> Int { 1 }
                    func throwing() throws -> Int { 1 }
                    func never() throws(Never) -> Int { 1 }
                    func late() async throws -> Int { 1 }
                    @MainActor func main() {}

                    nonisolated let context = Waybill.ModuleContext.current

                    static var url: String {
                        "app://a"
                    }

                    static var routes: [Waybill.ModuleRoute<A>] {
                        var routes: [Waybill.ModuleRoute<A>] = []
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/plain",
                                action: "plain"
                            ) { module, _ -> Int in
                                module.plain()
                            }
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/throwing",
                                action: "throwing"
                            ) { module, _ -> Int in
                                try module.throwing()
                            }
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/never",
                                action: "never"
                            ) { module, _ -> Int in
                                module.never()
                            }
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/late",
                                action: "late"
                            ) { module, _ -> Int in
                                try await module.late()
                            }
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/main",
                                action: "main"
                            ) { module, _ -> Void in
                                await module.main()
                            }
                        )
                        return routes
                    }

                    enum urls {
                        static func plain() -> Waybill.TypedURL<Int> {
                            Waybill.TypedURL<Int>(url: "app://a/plain")
                        }

                        static func throwing() -> Waybill.TypedURL<Int> {
                            Waybill.TypedURL<Int>(url: "app://a/throwing")
                        }

                        static func never() -> Waybill.TypedURL<Int> {
                            Waybill.TypedURL<Int>(url: "app://a/never")
                        }

                        static func late() -> Waybill.TypedURL<Int> {
                            Waybill.TypedURL<Int>(url: "app://a/late")
                        }

                        static func main() -> Waybill.TypedURL<Void> {
                            Waybill.TypedURL<Void>(url: "app://a/main")
                        }
                    }
                }

                extension A: Waybill.Module {
                }
                """#
        )
    }

    @Test
    func `a route declares the types of its progress replies, which no URL contains`() {
        expectExpansion(
            of: #"""
                @Module("app://a")
                actor A {
                    @Route func ask(_ n: Int, progress: ProgressReplies<String, Bool>) async throws(OrderError) {}
                    @Route func tell(progress: Waybill.ProgressReplies<[Self.Step], Void>) async {}
                }
                """#,
            is: #"""
                actor A {
                    func ask(_ n: Int, progress: ProgressReplies<String, Bool>) async throws(OrderError) {}
                    func tell(progress: Waybill.ProgressReplies<[Self.Step], Void>) async {}

                    nonisolated let context = Waybill.ModuleContext.current

                    static var url: String {
                        "app://a"
                    }

                    static var routes: [Waybill.ModuleRoute<A>] {
                        var routes: [Waybill.ModuleRoute<A>] = []
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/ask",
                                action: "ask",
                                parameters: [
                                    .init("n", "Int", of: Int.self),
                                ]
                            ) { module, message -> Void in
                                try await module.ask(
                                    message.argument("n") as Int,
                                    progress: ProgressReplies<String, Bool>(to: message)
                                )
                            }
                            .throwing(OrderError.self)
                            .reporting(ProgressReplies<String, Bool>.self)
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/tell",
                                action: "tell"
                            ) { module, message -> Void in
                                await module.tell(
                                    progress: Waybill.ProgressReplies<[A.Step], Void>(to: message)
                                )
                            }
                            .reporting(Waybill.ProgressReplies<[A.Step], Void>.self)
                        )
                        return routes
                    }

                    enum urls {
                        static func ask(_ n: Int) -> Waybill.TypedURL<Void> {
                            Waybill.TypedURL<Void>(url: "app://a/ask")
                                .with("n", n)
                        }

                        static func tell() -> Waybill.TypedURL<Void> {
                            Waybill.TypedURL<Void>(url: "app://a/tell")
                        }
                    }
                }

                extension A: Waybill.Module {
                }
                """#
        )
    }

    @Test
    func `a route declares the type of its typed errors, unless it is any Error`() {
        expectExpansion(
            of: #"""
                @Module("app://a")
                actor A {
                    @Route func typed() throws(OrderError) -> Int { 1 }
                    @Route func anyError() throws(any Error) -> Int { 1 }
                }
                """#,
            is: #"""
                actor A {
                    func typed() throws(OrderError) -> Int { 1 }
                    func anyError() throws(any Error) -> Int { 1 }

                    nonisolated let context = Waybill.ModuleContext.current

                    static var url: String {
                        "app://a"
                    }

                    static var routes: [Waybill.ModuleRoute<A>] {
                        var routes: [Waybill.ModuleRoute<A>] = []
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/typed",
                                action: "typed"
                            ) { module, _ -> Int in
                                try module.typed()
                            }
                            .throwing(OrderError.self)
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/anyError",
                                action: "anyError"
                            ) { module, _ -> Int in
                                try module.anyError()
                            }
                        )
                        return routes
                    }

                    enum urls {
                        static func typed() -> Waybill.TypedURL<Int> {
                            Waybill.TypedURL<Int>(url: "app://a/typed")
                        }

                        static func anyError() -> Waybill.TypedURL<Int> {
                            Waybill.TypedURL<Int>(url: "app://a/anyError")
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
