#if Macros

import Testing

@Suite
struct PlainModuleTests {
    @Test
    func `a module gets its place, its URL, its routes, their builders and its conformance`() {
        expectExpansion(
            of: #"""
                @Module("app://user")
                actor UserModule {
                    /// Who somebody is.
                    @Route func detail(uid: Int, name: String = "") -> User { User() }
                    @Route("/:uid/avatar") func avatar(uid: Int) async throws -> Image { Image() }
                    func unrelated() {}
                }
                """#,
            is: #"""
                """#
        )
    }
}

#endif
