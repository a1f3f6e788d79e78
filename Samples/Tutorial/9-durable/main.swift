import Foundation
import Waybill
import WaybillDurable

@Module("app://kitchen")
actor Kitchen {
    /// Brews the drink of an order.
    @Route func brew(order: Int, drink: String, message: Message) async throws {
        print("brewing order \(order), attempt \(message.attempt ?? 0)")
        if message.attempt == 1 {
            // The process ends here, as with `kill -9` or a power cut.
            fflush(nil)
            kill(getpid(), SIGKILL)
        }
        try await message.complete { transaction in
            try transaction.execute("INSERT INTO served VALUES (?, ?)", order, drink)
        }
    }
}

let store = try await DurableStore(CommandLine.arguments[1])
let bus = MessageBus()
try await bus.install { Kitchen() }

// The order and the message about it are one commit. The key makes a second run send nothing.
try await store.transaction { transaction in
    try transaction.execute("CREATE TABLE IF NOT EXISTS served (number INTEGER, drink TEXT)")
    let receipt = try transaction.send("app://kitchen/brew?order=1&drink=tea", key: "order-1")
    if !receipt.isDuplicate { print("order 1 is on disk") }
}
try await bus.attach(store)

while try await !store.messages().isEmpty { try await Task.sleep(for: .milliseconds(5)) }
let served = try await store.transaction { try $0.query("SELECT number, drink FROM served") }
for row in served { print("served: order \(row["number"]?.int ?? 0), \(row["drink"]?.text ?? "")") }
await store.close()
