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
                            ) { waybillModule, _ -> Int in
                                waybillModule.plain()
                            }
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/throwing",
                                action: "throwing"
                            ) { waybillModule, _ -> Int in
                                try waybillModule.throwing()
                            }
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/never",
                                action: "never"
                            ) { waybillModule, _ -> Int in
                                waybillModule.never()
                            }
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/late",
                                action: "late"
                            ) { waybillModule, _ -> Int in
                                try await waybillModule.late()
                            }
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/main",
                                action: "main"
                            ) { waybillModule, _ -> Void in
                                await waybillModule.main()
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
                            ) { waybillModule, waybillMessage -> Void in
                                try await waybillModule.ask(
                                    waybillMessage.argument("n") as Int,
                                    progress: ProgressReplies<String, Bool>(to: waybillMessage)
                                )
                            }
                            .throwing(OrderError.self)
                            .reporting(ProgressReplies<String, Bool>.self)
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/tell",
                                action: "tell"
                            ) { waybillModule, waybillMessage -> Void in
                                await waybillModule.tell(
                                    progress: Waybill.ProgressReplies<[A.Step], Void>(to: waybillMessage)
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
                            ) { waybillModule, _ -> Int in
                                try waybillModule.typed()
                            }
                            .throwing(OrderError.self)
                        )
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/anyError",
                                action: "anyError"
                            ) { waybillModule, _ -> Int in
                                try waybillModule.anyError()
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
