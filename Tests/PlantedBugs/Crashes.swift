#if Macros
import Synchronization
import Waybill
import WaybillSimulation
import WaybillTestSupport

// Defects of several processes, some of which crash.

/// A disk that survives the crash of its node.
final class Disk: Sendable {
    private let numbers = Mutex<[String: Int]>([:])

    func read(_ key: String) -> Int { self.numbers.withLock { $0[key] ?? 0 } }

    @discardableResult
    func add(_ amount: Int, to key: String) -> Int {
        self.numbers.withLock { numbers in
            numbers[key, default: 0] += amount
            return numbers[key] ?? 0
        }
    }

    func write(_ number: Int, to key: String) { self.numbers.withLock { $0[key] = number } }
}

@Module("app://sales")
actor Sales {
    private let disk: Disk

    init(_ disk: Disk) { self.disk = disk }

    @Route func sell() async throws {
        self.disk.add(1, to: "sold")
        // A crash at this point leaves a sale that is never shipped.
        try await Task.sleep(for: .seconds(60))
        self.disk.add(1, to: "shipped")
    }
}

extension PlantedBug {
    /// Issue 1047 of resque/resque: a crash between taking a job and recording it loses the job.
    static let crashBeforePublication = PlantedBug(
        "a crash between two writes leaves one of them undone",
        faults: Faults(crash: .perHour(4))
    ) { world in
        let disk = Disk()
        _ = try await world.node("sales") { bus in try await bus.install { Sales(disk) } }
        world.eventually("each sale is shipped") { disk.read("sold") == disk.read("shipped") }
        try await world.clients(5) { client, _ in try await client.route("app://sales/sell") }
    } ordinaryTest: { bus in
        let disk = Disk()
        try await bus.install { Sales(disk) }
        let call = Task { try await bus.route("app://sales/sell") }
        let isSold = await eventually { disk.read("sold") == 1 }
        call.cancel()
        return isSold
    }
}

@Module("app://reports")
actor Reports {
    private let disk: Disk

    init(_ disk: Disk) { self.disk = disk }

    @Route func night(day: Int) async throws {
        guard self.disk.read("report \(day)") == 0 else { return }
        try await Task.sleep(for: .seconds(1))
        self.disk.add(1, to: "report \(day)")
    }
}

extension PlantedBug {
    /// Issue 543 of kelektiv/node-cron: each instance of an application runs the schedule.
    static let scheduleThatRunsTwice = PlantedBug("two nodes run the same schedule") { world in
        let disk = Disk()
        _ = try await world.node("first") { bus in try await bus.install { Reports(disk) } }
        _ = try await world.node("second") { bus in try await bus.install { Reports(disk) } }
        world.always("a report is written once") { disk.read("report 1") <= 1 }
        try await world.clients(2) { client, random in
            try await Task.sleep(for: random.duration(in: .zero ... .seconds(3)))
            try await client.route("app://reports/night?day=1")
        }
    } ordinaryTest: { bus in
        let disk = Disk()
        try await bus.install { Reports(disk) }
        for _ in 0..<2 { try await bus.route("app://reports/night?day=1") }
        return disk.read("report 1") == 1
    }
}

@Module("app://leader")
actor Leader {
    private let disk: Disk

    init(_ disk: Disk) { self.disk = disk }

    @Route func work(now: Int) async throws {
        // The lease lasts ten seconds, but the work may take longer.
        guard self.disk.read("lease") < now else { return }
        self.disk.write(now + 10_000, to: "lease")
        self.disk.add(1, to: "leaders")
        try await self.bus.route("app://storage/save")
        self.disk.add(-1, to: "leaders")
    }
}

@Module("app://storage")
actor Storage {
    @Route func save() async throws { try await Task.sleep(for: .seconds(1)) }
}

extension PlantedBug {
    /// Issue 308 of OptimalBits/bull: a slow worker loses its lock, and another one handles the same job.
    static let expiredLease = PlantedBug(
        "a leader works on after its lease has expired",
        faults: Faults(delay: .upTo(.seconds(60)))
    ) { world in
        let disk = Disk()
        _ = try await world.node("leader") { bus in
            try await bus.install { Storage() }
            return try await bus.install { Leader(disk) }
        }
        world.always("there is one leader") { disk.read("leaders") <= 1 }
        try await world.clients(3) { client, random in
            for _ in 0..<3 {
                let now = Int(world.elapsed / .milliseconds(1)) + 1
                try await client.route("app://leader/work?now=\(now)")
                try await Task.sleep(for: random.duration(in: .seconds(1) ... .seconds(20)))
            }
        }
    } ordinaryTest: { bus in
        let disk = Disk()
        try await bus.install { Storage() }
        try await bus.install { Leader(disk) }
        try await bus.route("app://leader/work?now=1")
        return disk.read("leaders") == 0
    }
}

@Module("app://names")
actor Names {
    private let disk: Disk

    init(_ disk: Disk) { self.disk = disk }

    @Route func register(name: String) async throws -> Bool {
        let isTaken: Int = try await self.bus.route("app://rows/count?name=\(name)")
        guard isTaken == 0 else { return false }
        try await self.bus.route("app://rows/insert?name=\(name)")
        return true
    }
}

@Module("app://rows")
actor Rows {
    private let disk: Disk

    init(_ disk: Disk) { self.disk = disk }

    @Route func count(name: String) async -> Int {
        await Task.yield()
        return self.disk.read(name)
    }

    @Route func insert(name: String) async { self.disk.add(1, to: name) }
}

extension PlantedBug {
    /// Issue 7727 of readthedocs/readthedocs.org: two requests find no row, and both insert one.
    static let registeredTwice = PlantedBug("a name that must be unique is registered twice") { world in
        let disk = Disk()
        _ = try await world.node("rows") { bus in try await bus.install { Rows(disk) } }
        _ = try await world.node("names") { bus in try await bus.install { Names(disk) } }
        world.always("a name is registered once") { disk.read("ada") <= 1 }
        try await world.clients(2) { client, random in
            try await Task.sleep(for: random.duration(in: .zero ... .milliseconds(5)))
            try await client.route("app://names/register?name=ada")
        }
    } ordinaryTest: { bus in
        let disk = Disk()
        try await bus.install { Rows(disk) }
        try await bus.install { Names(disk) }
        let first: Bool = try await bus.route("app://names/register?name=ada")
        let second: Bool = try await bus.route("app://names/register?name=ada")
        return first && !second
    }
}

@Module("app://search")
actor Search {
    private var latest = ""
    private(set) var shown = ""

    @Route func type(text: String) async throws {
        self.latest = text
        // The answers of two searches may arrive in the other order.
        try await self.bus.route("app://index/find?text=\(text)")
        self.shown = text
    }

    var isRight: Bool { self.shown == self.latest }
}

@Module("app://index")
actor Index {
    @Route func find(text: String) async throws { try await Task.sleep(for: .milliseconds(50)) }
}

extension PlantedBug {
    /// Pull request 4860 of mattermost/mattermost: a slow old request replaces the results of a newer one.
    static let lateReplyWins = PlantedBug(
        "the late reply of an old request replaces the new one",
        faults: Faults(delay: .upTo(.seconds(2)))
    ) { world in
        let node = try await world.node("search") { bus in
            try await bus.install { Index() }
            return try await bus.install { Search() }
        }
        world.eventually("the last search is shown") { await node.module(Search.self).isRight }
        try await world.clients(3) { client, random in
            try await Task.sleep(for: random.duration(in: .zero ... .milliseconds(100)))
            try await client.route("app://search/type?text=\(random.int(in: 1...1_000_000))")
        }
    } ordinaryTest: { bus in
        try await bus.install { Index() }
        let search = try await bus.install { Search() }.module
        try await bus.route("app://search/type?text=a")
        try await bus.route("app://search/type?text=b")
        return await search.isRight
    }
}
#endif
