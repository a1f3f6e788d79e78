#if Macros

internal import Testing
package import Waybill
internal import WaybillEventLoop
internal import WaybillTestSupport

@Service("app://tasks")
package protocol TaskService: Sendable {
    func plain() async throws -> UInt
    func suspending() async throws -> UInt
    func nonisolatedPlain() async throws -> UInt
    func labelled(_ number: Int) async throws -> UInt
    func typed(_ number: Int) async throws -> UInt
    func renamed(_ number: Int) async throws -> UInt
    func inExtension() async throws -> UInt
    func twice() async throws -> UInt
    func list(_ numbers: [Int], _ name: String?, _ factor: Double) async throws -> String
    func broken() async throws
}

private struct NoCopy: ~Copyable {}

/// A module whose methods return the ID of the calling task.
@Module("app://task-module")
private actor TaskModule: TaskService {
    func plain() -> UInt { self.here }
    func suspending() async -> UInt { self.here }
    nonisolated func nonisolatedPlain() -> UInt { CurrentTask.id }
    func labelled(_ number: Int) async -> UInt { self.here }
    // The label distinguishes this method from the service's.
    func labelled(number: Int) -> UInt { 0 }
    func typed(_ number: Int) async -> UInt { self.here }
    // Methods whose types or parameter names differ from the service's.
    func typed(_ number: String) -> UInt { 0 }
    // The parameter has another name than in the service's URL.
    func renamed(_ value: Int) -> UInt { UInt(value) }
    func twice() async -> UInt { self.here }
    func twice() -> String { "another" }
    func list(_ numbers: [Int], _ name: String?, _ factor: Double) -> String {
        "\(numbers) \(name ?? "none") \(factor)"
    }
    func broken() throws { throw Broken.spring }
    // No service has these methods, which the macro cannot know.
    func unique() -> NoCopy { NoCopy() }
    func reference() -> TaskReference { TaskReference() }

    private var here: UInt {
        self.eventLoop.preconditionInEventLoop()
        return CurrentTask.id
    }
}

extension TaskModule {
    func inExtension() -> UInt { CurrentTask.id }
}

/// A class that is not Sendable.
private final class TaskReference {}

@Suite(.timeLimit(.minutes(1)))
struct CallsInPlaceTests {
    private let bus = MessageBus(configuration: .quiet)

    /// Returns for each method whether it runs in the task of a caller on the loop.
    private func inPlace() async throws -> [String: Bool] {
        let service = try self.bus.service((any TaskService).self)
        try self.bus.register("app://caller") { message -> [String: Bool] in
            let own = CurrentTask.id
            return [
                "plain": try await service.plain() == own,
                "suspending": try await service.suspending() == own,
                "nonisolated": try await service.nonisolatedPlain() == own,
                "labelled": try await service.labelled(1) == own,
                "typed": try await service.typed(1) == own,
                "extension": try await service.inExtension() == own,
                "twice": try await service.twice() == own,
            ]
        }
        return try await self.bus.route("app://caller")
    }

    @Test
    func `a service's method is called in place if the module's method is not async`() async throws {
        try await self.bus.install { TaskModule() }
        let inPlace = try await self.inPlace()
        #expect(inPlace.filter(\.value).keys.sorted() == ["nonisolated", "plain"])
    }

    @Test
    func `a service call in place has the same values and failures as one in a task`() async throws {
        try await self.bus.install { TaskModule() }
        let service = try self.bus.service((any TaskService).self)
        #expect(try await service.list([1, 2], "two", 0.5) == "[1, 2] two 0.5")
        #expect(try await service.list([], nil, 1) == "[] none 1.0")
        #expect(try await service.renamed(7) == 7)
        await #expect(throws: Broken.spring) { try await service.broken() }
        let url = "app://tasks/list?factor=2&numbers=3&numbers=4"
        #expect(try await self.bus.route(url) == "[3, 4] none 2.0")
    }

    @Test
    func `a service call whose deadline has passed fails before its method is called`() async throws {
        try await self.bus.install { TaskModule() }
        let service = try self.bus.service((any TaskService).self, timeout: .zero)
        let error = await failure { try await service.plain() }
        #expect(error?.code == .deadlineExceeded)
    }
}

#endif
