package import ShopAPI
package import Waybill

/// The customers of the shop and their sessions.
///
/// Other modules pass a session to `CustomerService` and receive its customer, or an error for their own caller.
/// They never receive a password or a list of sessions.
@Module("app://accounts")
package actor AccountsModule: CustomerService {
    private let customers: [User]
    private var sessions: [SessionToken: Session] = [:]

    package init() {
        let names = ["Lili", "Ada", "Zoë", "李明", "Søren", "Mónica"]
        self.customers = names.enumerated().map { User(id: $0 + 1, name: $1) }
    }

    /// Opens a session for a customer, and ends the customer's previous session.
    @Route("/sign-in") func signIn(name: String) throws -> Session {
        guard let user = self.customers.first(where: { $0.name.lowercased() == name.lowercased() }) else {
            throw ShopError.unknownCustomer(name)
        }
        self.sessions = self.sessions.filter { $0.value.user != user }
        let session = Session(token: .random(), user: user)
        self.sessions[session.token] = session
        self.bus.send("app://activity/log", parameters: ["text": "\(user.name) signed in"])
        return session
    }

    /// Returns the session of a token.
    @Route func session(_ session: SessionToken?) throws -> Session {
        guard let session = session.flatMap({ self.sessions[$0] }) else { throw ShopError.notSignedIn }
        return session
    }

    /// Returns the customer of a session.
    package func customer(session: SessionToken?) throws -> User { try self.session(session).user }

    /// Ends a session.
    @Route("/sign-out") func signOut(_ session: SessionToken?) throws -> User {
        let session = try self.session(session)
        self.sessions[session.token] = nil
        self.bus.send("app://activity/log", parameters: ["text": "\(session.user.name) signed out"])
        return session.user
    }

    /// The customers of the shop.
    @Route func users() -> [User] { self.customers }
}
