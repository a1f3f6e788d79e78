import Testing
// The file does not import WaybillEventLoop, like the files of most users. A module runs on its loop
// nevertheless.
import Waybill
import WaybillTestSupport

#if Macros

@Suite
struct ModuleExecutorTests {
    @Test
    func `a module runs on its loop, whether it is called by a message or as an actor`() async throws {
        let bus = MessageBus()
        let module = try await bus.install { Listener() }.module
        #expect(try await bus.route("app://listener/names?text=a,b") == ["a", "b"])
        #expect(try await bus.route("app://listener/later?text=a,b") == ["a", "b"])
        #expect(await module.names(text: "a,b") == ["a", "b"])
        let executors = await module.executors
        #expect(executors == Array(repeating: ObjectIdentifier(bus.eventLoop), count: 6))
    }

    @Test
    func `install makes a module in the isolation of its caller`() async throws {
        let bus = MessageBus()
        let installer = try await bus.install { Installer() }.module
        #expect(try await installer.installs(on: bus))
    }
}

@Module("app://installer")
private actor Installer {
    func installs(on bus: MessageBus) async throws -> Bool {
        var loops: [ObjectIdentifier?] = []
        try await bus.install {
            loops.append(currentLoop())
            return Listener()
        }
        return loops == [ObjectIdentifier(self.eventLoop)]
    }
}

@Module("app://listener")
private actor Listener {
    private(set) var executors: [ObjectIdentifier?] = []

    /// The compiler checks the isolation of the code in this closure.
    @Route func names(text: String) -> [String] {
        text.split(separator: ",").map { name in
            self.executors.append(currentLoop())
            return String(name)
        }
    }

    @Route func later(text: String) async -> [String] {
        await Task.yield()
        return self.names(text: text)
    }
}

#endif
