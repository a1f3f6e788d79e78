#if Tool

import ArgumentParser
import Testing
import Waybill
import WaybillCommands

@Suite
struct RouteListTests {
    private let list = RouteList([
        RouteDescription(
            pattern: "app://user/detail",
            module: "UserModule",
            action: "detail",
            parameters: [
                .init("uid", "Int"), .init("name", "String", default: "\"a|b\""), .init("side", "Side?"),
            ],
            reply: "User",
            documentation: "Who a user is."
        ),
        RouteDescription(pattern: "app://plain/:id", parameters: [.init("id", "string")], reply: ""),
    ])

    @Test
    func `a table of routes has aligned columns`() throws {
        #expect(
            try self.list.text(as: .table) == """
                PATTERN            PARAMETERS                                   REPLY  HANDLED BY
                app://plain/:id    id: string
                app://user/detail  uid: Int, name: String = "a|b", side: Side?  User   UserModule.detail
                """
        )
    }

    @Test
    func `JSON of a route marks the required parameters`() throws {
        let json = try self.list.text(as: .json)
        #expect(json.contains(#""pattern" : "app://user/detail""#))
        #expect(json.contains(#""required" : true"#))
        #expect(json.contains(#""default" : "\"a|b\"""#))
        #expect(json.contains(#""documentation" : "Who a user is.""#))
    }

    @Test
    func `Markdown of routes has a section for each module and a table of parameters`() throws {
        #expect(
            try self.list.text(as: .markdown) == """
                # Routes

                ## UserModule

                ### `app://user/detail`

                Who a user is.

                | parameter | type | default |
                | --- | --- | --- |
                | uid | `Int` | required |
                | name | `String` | `"a\\|b"` |
                | side | `Side?` | none |

                Replies with `User`.

                ## Other routes

                ### `app://plain/:id`

                | parameter | type | default |
                | --- | --- | --- |
                | id | `string` | required |
                """
        )
    }

    @Test
    func `a program adds the routes subcommand in one line`() async throws {
        let command = try Program.parseAsRoot(["routes", "--check", "app://a"])
        #expect(command is RoutesCommand<Program>)
        #expect(throws: (any Error).self) { try Program.parseAsRoot(["routes", "app://a"]) }
        #expect(throws: (any Error).self) { try Program.parseAsRoot(["routes", "--format", "xml"]) }
        let nowhere = try Program.parseAsRoot(["routes", "--check", "app://b"])
        await #expect(throws: ExitCode.failure) {
            let command = try #require(nowhere as? RoutesCommand<Program>)
            try await command.run()
        }
    }

    @Test(arguments: [
        (["--service", "ClockService"], true), (["--service", "ClockService", "app://a"], true),
        (["--service", "CalendarService"], false),
        (["--service", "ClockService", "--service", "CalendarService"], false),
        (["--service", "ClockService", "app://b"], false),
    ])
    func `the routes command checks services by the names of their protocols`(
        arguments: [String],
        isFine: Bool
    ) async throws {
        let parsed = try Program.parseAsRoot(["routes", "--check"] + arguments)
        let command = try #require(parsed as? RoutesCommand<Program>)
        if isFine {
            try await command.run()
        } else {
            await #expect(throws: ExitCode.failure) { try await command.run() }
        }
        #expect(throws: (any Error).self) {
            try Program.parseAsRoot(["routes", "--service", "ClockService"])
        }
    }

    @Test
    func `the routes command checks the services that a program needs`() async throws {
        let parsed = try NeedyProgram.parseAsRoot(["routes", "--check"])
        let command = try #require(parsed as? RoutesCommand<NeedyProgram>)
        await #expect(throws: ExitCode.failure) { try await command.run() }
    }
}

private protocol ClockService: Sendable {}
private protocol CalendarService: Sendable {}

private struct SystemClock: ClockService {}

private struct NeedyProgram: AsyncParsableCommand, RouteProviding {
    static let configuration = CommandConfiguration(subcommands: [RoutesCommand<NeedyProgram>.self])
    static var neededServices: [any Any.Type] { [(any ClockService).self, (any CalendarService).self] }

    static func makeBus() async throws -> MessageBus { try await Program.makeBus() }
}

private struct Program: AsyncParsableCommand, RouteProviding {
    static let configuration = CommandConfiguration(subcommands: [RoutesCommand<Program>.self])

    static func makeBus() async throws -> MessageBus {
        let bus = MessageBus()
        try bus.register("app://a") { _ in 1 }
        try bus.provide((any ClockService).self, at: "app://a") { _ in SystemClock() }
        return bus
    }
}

#endif
