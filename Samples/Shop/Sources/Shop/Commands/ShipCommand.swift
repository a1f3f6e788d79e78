internal import ArgumentParser
internal import Foundation
internal import Parcels
internal import Waybill
internal import WaybillDurable

/// `shop ship ORDER --data FILE`: ships an order, even if the process is killed meanwhile.
struct ShipCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ship",
        abstract: "Ship an order with a durable message, which survives the end of the process.",
        discussion: """
            The file contains the waiting messages and the parcels. Each order is shipped exactly once, even if the \
            command is run several times for it or is killed.

            EXAMPLE:
              shop ship 7 --data shop.db --kill
              shop ship 7 --data shop.db
            """
    )

    @Argument(help: "The number of the order.")
    var order: Int

    @Option(help: ArgumentHelp("The file of the store. A missing file is created.", valueName: "file"))
    var data: String

    @Flag(help: "Kill the process in the middle of the first attempt, as `kill -9` does.")
    var kill = false

    func run() async throws {
        do {
            let store = try await DurableStore(self.data)
            let count = try await self.ship(with: store)
            await store.close()
            try self.print("parcels of order \(self.order): \(count)")
        } catch let error as DurableError {
            throw ValidationError(error.message)
        }
    }

    /// Sends the order unless it was sent before, and waits until it is shipped.
    private func ship(with store: DurableStore) async throws -> Int {
        let bus = MessageBus()
        let (order, kills) = (self.order, self.kill)
        try await bus.install {
            ParcelsModule(store) { order, attempt in
                try? self.print("order \(order): attempt \(attempt)")
                if kills, attempt == 1 { Foundation.kill(getpid(), SIGKILL) }
            }
        }
        try await store.transaction { transaction in
            try ParcelsModule.createTable(in: transaction)
            try transaction.send("app://parcels/ship?order=\(order)", key: "ship \(order)")
        }
        try await bus.attach(store)
        while try await !store.messages(matching: "app://parcels/**").allSatisfy({ $0.state == .dead }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        return try await bus.route("app://parcels/count?order=\(order)")
    }

    private func print(_ line: String) throws {
        var output = FileOutput(1)
        output.bytes.append(contentsOf: "\(line)\n".utf8)
        try output.flush()
    }
}
