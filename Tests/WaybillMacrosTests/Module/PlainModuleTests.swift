#if Macros

import Testing

@Suite
struct PlainModuleTests {
    @Test(arguments: [
        ("nonisolated let context = ModuleContext.current", false),
        ("nonisolated let context: Waybill.ModuleContext", false), ("var context: [String: Any] = [:]", true),
        ("let context = 5", true), ("let context = UserModuleContext()", true),
        ("nonisolated let context: [ModuleContext] = []", true), ("let (context, other) = (1, 2)", true),
    ])
    func `the actor keeps its property context if that has another type`(
        property: String,
        isElse: Bool
    ) {
        let added =
            isElse
            ? """


                @_implements(Waybill.Module, context)
                nonisolated let moduleContext = Waybill.ModuleContext.current
            """ : ""
        expectExpansion(
            of: #"""
                @Module("app://user")
                actor UserModule {
                    \#(property)
                }
                """#,
            is: #"""
                actor UserModule {
                    \#(property)\#(added)

                    static var url: String {
                        "app://user"
                    }

                    static var routes: [Waybill.ModuleRoute<UserModule>] {
                        []
                    }

                    enum urls {
                    }
                }

                extension UserModule: Waybill.Module {
                }
                """#
        )
    }

    @Test
    func `@Module generates the context, the URL, the routes, their builders and the conformance`() {
        expectExpansion(
            of: #"""
                @Module("app://user")
                actor UserModule {
                    /// Who somebody is.
                    @Route func detail(uid: Int, name: String = "") -> User { User() }
                    func unrelated() {}
                }
                """#,
            is: #"""
                actor UserModule {
                    /// Who somebody is.
                    func detail(uid: Int, name: String = "") -> User { User() }
                    func unrelated() {}

                    nonisolated let context = Waybill.ModuleContext.current

                    static var url: String {
                        "app://user"
                    }

                    static var routes: [Waybill.ModuleRoute<UserModule>] {
                        var routes: [Waybill.ModuleRoute<UserModule>] = []
                        do {
                            let waybillBody = { @Sendable (waybillModule: isolated UserModule, waybillMessage: Waybill.Message) -> User in
                                try waybillModule.detail(
                                    uid: waybillMessage.argument("uid") as Int,
                                    name: waybillMessage.argument("name") as String? ?? ""
                                )
                            }
                            #sourceLocation(file: "test.swift", line: 4)
                            routes.append(Waybill.ModuleRoute<UserModule>(
                                "app://user/detail",
                                action: "detail",
                                parameters: [
                                    .init("uid", "Int", of: Int.self),
                                    .init("name", "String", of: String.self, default: "\"\""),
                                ],
                                documentation: "Who somebody is.",
                                waybillBody
                            ))
                            #sourceLocation()
                        }
                        return routes
                    }

                    enum urls {
                        /// Who somebody is.
                        static func detail(uid: Int, name: String = "") -> Waybill.TypedURL<User> {
                            Waybill.TypedURL<User>(url: "app://user/detail")
                                .with("uid", uid)
                                .with("name", name)
                        }
                    }
                }

                extension UserModule: Waybill.Module {
                }
                """#
        )
    }

    @Test
    func `a public module with its own context gets public members`() {
        expectExpansion(
            of: #"""
                @available(macOS 26, *)
                @Module("app://user/")
                public actor UserModule {
                    public nonisolated let context: ModuleContext
                }
                """#,
            is: #"""
                @available(macOS 26, *)
                public actor UserModule {
                    public nonisolated let context: ModuleContext

                    public static var url: String {
                        "app://user"
                    }

                    public static var routes: [Waybill.ModuleRoute<UserModule>] {
                        []
                    }

                    public enum urls {
                    }
                }

                @available(macOS 26, *)
                extension UserModule: Waybill.Module {
                }
                """#
        )
    }
}

#endif
