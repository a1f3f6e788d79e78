#if Macros

import Testing

@Suite
struct ConditionTests {
    @Test
    func `conditional compilation around routes is kept in the expansion`() {
        expectExpansion(
            of: #"""
                @Module("app://a")
                actor A {
                    #if DEBUG
                    @Route func one() {}
                    #elseif os(Linux)
                    @Route func two() {}
                    #else
                    func three() {}
                    #endif
                    @available(macOS 27, *)
                    @Route func four() {}
                }
                """#,
            is: #"""
                actor A {
                    #if DEBUG
                    func one() {}
                    #elseif os(Linux)
                    func two() {}
                    #else
                    func three() {}
                    #endif
                    @available(macOS 27, *)
                    func four() {}

                    nonisolated let context = Waybill.ModuleContext.current

                    static var url: String {
                        "app://a"
                    }

                    static var routes: [Waybill.ModuleRoute<A>] {
                        var routes: [Waybill.ModuleRoute<A>] = []
                        #if DEBUG
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/one",
                                action: "one"
                            ) { waybillModule, _ -> Void in
                                waybillModule.one()
                            }
                        )
                        #elseif os(Linux)
                        routes.append(
                            Waybill.ModuleRoute<A>(
                                "app://a/two",
                                action: "two"
                            ) { waybillModule, _ -> Void in
                                waybillModule.two()
                            }
                        )
                        #else
                        #endif
                        if #available(macOS 27, *) {
                            routes.append(
                                Waybill.ModuleRoute<A>(
                                    "app://a/four",
                                    action: "four"
                                ) { waybillModule, _ -> Void in
                                    waybillModule.four()
                                }
                            )
                        }
                        return routes
                    }

                    enum urls {
                        #if DEBUG
                        static func one() -> Waybill.TypedURL<Void> {
                            Waybill.TypedURL<Void>(url: "app://a/one")
                        }
                        #elseif os(Linux)
                        static func two() -> Waybill.TypedURL<Void> {
                            Waybill.TypedURL<Void>(url: "app://a/two")
                        }
                        #else
                        #endif

                        @available(macOS 27, *)
                        static func four() -> Waybill.TypedURL<Void> {
                            Waybill.TypedURL<Void>(url: "app://a/four")
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
