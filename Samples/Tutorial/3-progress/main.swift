import Waybill

@Module("app://kitchen")
actor Kitchen {
    /// Prepares a drink, and reports each step to the caller.
    @Route func prepare(drink: String, progress: ProgressReplies<String, Bool>) async throws -> String {
        for step in ["boil water", "fill the cup"] {
            guard try await progress.ask(step) else { throw RoutingError.refused("the guest has left") }
        }
        return drink
    }
}

@Module("app://counter")
actor Counter {
    /// Receives a prepared drink through a return URL.
    @Route func serve(message: Message) throws {
        print("counter: \(try message.payload(as: String.self)) is served")
    }
}

let bus = MessageBus()
try await bus.install { Kitchen() }
try await bus.install { Counter() }

let drink: String = try await bus.route("app://kitchen/prepare?drink=tea") { (step: String) in
    print("kitchen: \(step)")
    return true
}
print("guest: \(drink)")

// The fragment is a return URL: the value of the reply is also sent to `app://counter/serve`.
try await bus.route("app://kitchen/prepare?drink=espresso#counter/serve") { (_: String) in true }
await bus.shutDown(drainingFor: .seconds(1))
