internal import Waybill
internal import WaybillPerformances
internal import WaybillTestSupport

/// The type that the tests create on demand.
protocol Player: AnyObject, Sendable {
    var film: String { get async }
    func insert(_ film: String) async
}

actor MoviePlayer: Player {
    private(set) var film = ""
    func insert(_ film: String) { self.film += film }
}

/// A router that records its steps, and does in each of them what a test needs.
struct PlayerRouter: ServiceRouter {
    var journal = Journal<String>()
    var mustBeRemovedFirst = false
    var destination: @Sendable () async throws -> (any Player)? = { MoviePlayer() }
    var preparing: @Sendable () async throws -> Void = {}
    var checking: @Sendable () async throws -> Void = {}
    var removing: @Sendable () async throws -> Void = {}

    nonisolated(nonsending) func makeDestination() async throws -> (any Player)? {
        self.journal.add("make")
        return try await self.destination()
    }

    nonisolated(nonsending) func prepare(_ destination: any Player) async throws {
        self.journal.add("prepare")
        try await self.preparing()
    }

    nonisolated(nonsending) func check(_ destination: any Player) async throws {
        self.journal.add("check")
        try await self.checking()
    }

    nonisolated(nonsending) func remove(_ destination: any Player) async throws {
        self.journal.add("remove")
        try await self.removing()
    }
}

extension PerformConfiguration {
    /// Records the calls of the configuration's handlers.
    mutating func note(in journal: Journal<String>) {
        journal.add("configure")
        self.prepare = { _ in journal.add("caller prepares") }
        self.succeeded = { _ in journal.add("succeeded") }
        self.failed = { _ in journal.add("failed") }
        self.completed = { journal.add("completed \($0)") }
        self.stateChanged = { journal.add("\($0)->\($1)") }
    }
}
