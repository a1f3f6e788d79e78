#if Macros

package import Waybill
internal import WaybillEventLoop
internal import WaybillTestSupport

/// The service of the tests.
@Service("app://time")
package protocol TimeService: Sendable {
    /// Returns the time in a city.
    func time(in city: String) async throws -> String
    func add(_ hours: Int, to times: [Int], unless skipped: Int?) async throws -> [Int]
    func fail() async throws
    func wait() async throws
    func remind(_ body: @escaping @Sendable (Int) -> Int) async throws -> Int
    func loop() async throws -> String
}

@Service("app://alarm")
package protocol Alarms: Sendable {
    func ring() async throws -> String
}

enum Broken: Error, Equatable { case spring }

/// A module that provides two services, and has other methods.
@Module("app://clock")
actor ClockModule: TimeService, Alarms, CustomStringConvertible {
    let zone: String
    let cancelled = Gate()
    let waiting = Gate()
    private(set) var calls = 0

    init(zone: String = "local") { self.zone = zone }

    nonisolated var description: String { "a clock" }

    func time(in city: String) -> String {
        self.eventLoop.preconditionInEventLoop()
        self.calls += 1
        return "noon in \(city), \(self.zone)"
    }

    func add(_ hours: Int, to times: [Int], unless skipped: Int?) -> [Int] {
        times.filter { $0 != skipped }.map { $0 + hours }
    }

    func fail() throws { throw Broken.spring }

    func wait() async throws {
        self.waiting.open()
        do {
            try await hang()
        } catch {
            self.cancelled.open()
            throw error
        }
    }

    func remind(_ body: @escaping @Sendable (Int) -> Int) async throws -> Int { body(20) + 1 }

    func loop() -> String { self.eventLoop.name }

    func ring() -> String { "ding" }
}

/// A protocol that another team has declared for the same service.
protocol RequiredClock: Sendable {
    func noon(at place: String) async throws -> String
}

struct ClockAdapter: RequiredClock {
    let time: any TimeService
    func noon(at place: String) async throws -> String { try await self.time.time(in: place) }
}

/// A third protocol for the same service.
protocol WallClock: Sendable {
    func look() async throws -> String
}

struct WallClockAdapter: WallClock {
    let clock: any RequiredClock
    func look() async throws -> String { try await self.clock.noon(at: "the hall") }
}

#endif
