#if Macros

import Testing
import Waybill

@Suite
struct MacroModuleTests {
    @Test
    func `a module's method can be called by a URL, and by a typed URL`() async throws {
        let bus = MessageBus()
        try await bus.install { UserModule() }
        let user: String = try await bus.route("app://user/detail?uid=1&name=Lili")
        #expect(user == "1 Lili")
        #expect(try await bus.route(UserModule.urls.detail(uid: 2)) == "2 -")
        #expect(try await bus.route(UserModule.urls.avatar(uid: 3)) == "avatar of 3")
        #expect(bus.routes.map(\.pattern.text).sorted() == ["app://user/:uid/avatar", "app://user/detail"])
    }
}

@Module("app://user")
private actor UserModule {
    /// Who somebody is.
    @Route func detail(uid: Int, name: String = "-") -> String { "\(uid) \(name)" }

    @Route("/:uid/avatar") func avatar(uid: Int) async throws -> String { "avatar of \(uid)" }
}

#endif
