import ShopAPI
import Testing
import Waybill

@Suite
struct AccountsTests {
    @Test(arguments: ["Lili", "lili", "%E6%9D%8E%E6%98%8E", "李明", "Zoë"])
    func `a customer signs in by name, in any case and any script`(name: String) async throws {
        let shop = try await OpenShop()
        let session: Session = try await shop.bus.route("app://accounts/sign-in?name=\(name)")
        #expect(try await shop.bus.route("app://accounts/session?session=\(session.token)") == session)
    }

    @Test func `signing in with an unknown name fails`() async throws {
        let shop = try await OpenShop()
        #expect(
            try await shop.complaint(about: "app://accounts/sign-in?name=Nobody")
                == .unknownCustomer("Nobody")
        )
    }

    @Test func `signing in again ends the previous session`() async throws {
        let shop = try await OpenShop()
        let _: Session = try await shop.bus.route("app://accounts/sign-in?name=Lili")
        #expect(try await shop.complaint(about: "app://cart/show") == .notSignedIn)
    }

    @Test func `signing out ends the session`() async throws {
        let shop = try await OpenShop()
        let user: User = try await shop.ask("app://accounts/sign-out")
        #expect(user.name == "Lili")
        #expect(try await shop.complaint(about: "app://orders/mine") == .notSignedIn)
    }
}
