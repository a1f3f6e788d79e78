#if Macros
import Waybill
import WaybillSimulation

// Defects within one module: another message runs while a handler awaits.

@Module("app://counter")
actor Counter {
    var value = 0

    @Route func add(amount: Int) async throws -> Int {
        let old = self.value
        try await Task.sleep(for: .milliseconds(1))
        self.value = old + amount
        return self.value
    }
}

extension PlantedBug {
    static let lostUpdate = PlantedBug("an update is lost across an await") { world in
        let node = try await world.node("counter") { bus in try await bus.install { Counter() } }
        try await world.clients(3) { client, _ in try await client.route("app://counter/add?amount=1") }
        world.eventually("three additions of one are three") { await node.module(Counter.self).value == 3 }
    } ordinaryTest: { bus in
        let counter = try await bus.install { Counter() }.module
        for _ in 0..<3 { try await bus.route("app://counter/add?amount=1") }
        return await counter.value == 3
    }
}

@Module("app://shelf")
actor Shelf {
    private(set) var stock = 3

    @Route func take(count: Int) async throws -> Bool {
        guard self.stock >= count else { return false }
        try await Task.sleep(for: .milliseconds(1))
        self.stock -= count
        return true
    }
}

extension PlantedBug {
    static let checkThenAct = PlantedBug("a check is out of date when its act happens") { world in
        let node = try await world.node("shelf") { bus in try await bus.install { Shelf() } }
        world.always("the stock is never negative") { await node.module(Shelf.self).stock >= 0 }
        try await world.clients(3) { client, random in
            try await client.route("app://shelf/take?count=\(random.int(in: 1...3))")
        }
    } ordinaryTest: { bus in
        try await bus.install { Shelf() }
        let taken: Bool = try await bus.route("app://shelf/take?count=2")
        let refused: Bool = try await bus.route("app://shelf/take?count=2")
        return taken && !refused
    }
}

@Module("app://prices")
actor Prices {
    private var stored = 100
    private var cached: Int?

    @Route func read() async throws -> Int {
        if let cached { return cached }
        let price = self.stored
        // This suspension stands for the answer of a database.
        await Task.yield()
        self.cached = price
        return price
    }

    @Route func write(price: Int) async throws {
        self.stored = price
        self.cached = nil
    }

    var isStale: Bool { self.cached.map { $0 != self.stored } ?? false }
}

extension PlantedBug {
    /// Issue 43 of duomark/epocxy: a value that was fetched before an invalidation is stored after it.
    static let staleCache = PlantedBug("a cache stores a value that was read before an invalidation") {
        world in
        let node = try await world.node("prices") { bus in try await bus.install { Prices() } }
        world.always("the cache is never stale") { await !node.module(Prices.self).isStale }
        try await world.clients(4) { client, random in
            for _ in 0..<3 {
                if random.bool(odds: 0.3) {
                    try await client.route("app://prices/write?price=\(random.int(in: 1...9))")
                } else {
                    try await client.route("app://prices/read")
                }
            }
        }
    } ordinaryTest: { bus in
        try await bus.install { Prices() }
        let first: Int = try await bus.route("app://prices/read")
        try await bus.route("app://prices/write?price=7")
        let second: Int = try await bus.route("app://prices/read")
        return first == 100 && second == 7
    }
}

@Module("app://database")
actor Database {
    private var connection: Int?
    private(set) var connections = 0

    @Route func query() async throws -> Int {
        if self.connection == nil {
            try await Task.sleep(for: .milliseconds(30))
            self.connections += 1
            self.connection = self.connections
        }
        return self.connection ?? 0
    }
}

extension PlantedBug {
    /// Issue 6 of kane50613/redis-on-workers: commands that arrive while the first connection is being
    /// established get separate connections.
    static let doubleConnection = PlantedBug("two first callers create a connection each") { world in
        let node = try await world.node("database") { bus in try await bus.install { Database() } }
        world.always("there is one connection") { await node.module(Database.self).connections <= 1 }
        try await world.clients(2) { client, random in
            try await Task.sleep(for: random.duration(in: .zero ... .milliseconds(100)))
            try await client.route("app://database/query")
        }
    } ordinaryTest: { bus in
        let database = try await bus.install { Database() }.module
        for _ in 0..<2 { try await bus.route("app://database/query") }
        return await database.connections == 1
    }
}

@Module("app://accounts")
actor Accounts {
    private var balances = [50, 50]

    @Route func transfer(from: Int, to: Int, amount: Int) async throws {
        self.balances[from] -= amount
        await Task.yield()
        self.balances[to] += amount
    }

    @Route func total() -> Int { self.balances.reduce(0, +) }
}

@Module("app://auditor")
actor Auditor {
    private(set) var hasFoundGap = false

    @Route func audit() async throws {
        let total: Int = try await self.bus.route("app://accounts/total")
        if total != 100 { self.hasFoundGap = true }
    }
}

extension PlantedBug {
    static let tornTransfer = PlantedBug("a reader sees half of a transfer") { world in
        let node = try await world.node("bank") { bus in
            try await bus.install { Accounts() }
            return try await bus.install { Auditor() }
        }
        world.always("an audit finds no gap") { await !node.module(Auditor.self).hasFoundGap }
        try await world.clients(3) { client, random in
            for _ in 0..<3 {
                if random.bool() {
                    try await client.route("app://accounts/transfer?from=0&to=1&amount=5")
                } else {
                    try await client.route("app://auditor/audit")
                }
            }
        }
    } ordinaryTest: { bus in
        try await bus.install { Accounts() }
        let auditor = try await bus.install { Auditor() }.module
        try await bus.route("app://accounts/transfer?from=0&to=1&amount=5")
        try await bus.route("app://auditor/audit")
        return await !auditor.hasFoundGap
    }
}
#endif
