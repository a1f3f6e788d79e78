internal import ShopAPI
package import Waybill
package import WaybillEventLoop

/// Who the customers are, and who of them has signed in.
///
/// The others never see a password or a list of sessions: they route `app://accounts/session` and get the
/// session, or an error for their own caller.
package actor AccountsModule: LoopBound {
    package nonisolated let eventLoop: EventLoop
    private let bus: MessageBus
    private let users: [User]
    private var sessions: [SessionToken: Session] = [:]

    package init(bus: MessageBus) {
        self.bus = bus
        self.eventLoop = bus.eventLoop
        let names = ["Lili", "Ada", "Zoë", "李明", "Søren", "Mónica"]
        self.users = names.enumerated().map { User(id: $0 + 1, name: $1) }
    }

    /// Registers what the module handles: all of `app://accounts`.
    package nonisolated func register() throws(RoutingError) {
        try self.bus.register("app://accounts/sign-in", on: self) { accounts, message in
            try accounts.signIn(name: message.parameters.require("name"))
        }
        try self.bus.register("app://accounts/session", on: self) { accounts, message in
            try accounts.session(of: message.parameters["session"])
        }
        try self.bus.register("app://accounts/sign-out", on: self) { accounts, message in
            try accounts.signOut(message.parameters["session"])
        }
        try self.bus.register("app://accounts/users", on: self) { accounts, _ in accounts.users }
    }

    private func signIn(name: String) throws -> Session {
        guard let user = self.users.first(where: { $0.name.lowercased() == name.lowercased() }) else {
            throw ShopError.unknownCustomer(name)
        }
        // One session for each customer: signing in again ends the one before.
        self.sessions = self.sessions.filter { $0.value.user != user }
        let session = Session(token: .random(), user: user)
        self.sessions[session.token] = session
        self.bus.send("app://activity/log", parameters: ["text": "\(user.name) signed in"])
        return session
    }

    private func session(of token: String?) throws -> Session {
        guard let session = token.flatMap({ self.sessions[SessionToken($0)] }) else {
            throw ShopError.notSignedIn
        }
        return session
    }

    private func signOut(_ token: String?) throws -> User {
        let session = try self.session(of: token)
        self.sessions[session.token] = nil
        self.bus.send("app://activity/log", parameters: ["text": "\(session.user.name) signed out"])
        return session.user
    }
}
