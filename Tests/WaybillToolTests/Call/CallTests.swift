#if Tool
import ArgumentParser
import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillRouting
import WaybillServe
import WaybillTestSupport

@testable import WaybillTool

@Suite struct CallTests {
    private func reply(
        _ connection: ConnectionOptions,
        _ url: String,
        _ options: RPCRequestOptions = RPCRequestOptions()
    ) async throws -> String {
        let client = try connection.client()
        defer { client.close() }
        return try await client.request(url, options)
    }

    @Test func `the call command sends parameters and headers, and prints JSON`() async throws {
        try await withServedBus { bus, connection in
            try bus.register("app://user/:uid") { message -> [String: String] in
                [
                    "uid": message.parameters["uid"] ?? "", "name": message.parameters["name"] ?? "",
                    "lang": message.headers["lang"] ?? "",
                ]
            }
            try bus.expose("app://user/**")
            let command = try CallCommand.parse([
                "app://user/1", "--connect", "unread", "--json", "{\"name\": \"Lili\"}", "--header",
                "lang=de",
            ])
            let reply = try await self.reply(connection, "app://user/1", command.options())
            let value = try JSONDecoder().decode([String: String].self, from: Data(reply.utf8))
            #expect(value == ["uid": "1", "name": "Lili", "lang": "de"])
        }
    }

    @Test func `the call command names the values of an array by position`() async throws {
        try await withServedBus { bus, connection in
            try bus.register("app://sum") { message in
                try message.parameters.require("0", as: Int.self)
                    + message.parameters.require("1", as: Int.self)
            }
            try bus.expose("app://sum")
            var options = RPCRequestOptions()
            options.parameters = "[20, 22]"
            options.headers = ["a": "b"]
            #expect(try await self.reply(connection, "app://sum", options) == "42")
        }
    }

    @Test func `the call command shows progress replies in order, and answers them`() async throws {
        try await withServedBus { bus, connection in
            try bus.register("app://pay") { message async throws -> [Int] in
                [
                    try await message.reply(with: 1, expecting: Int.self),
                    try await message.reply(with: 2, expecting: Int.self),
                ]
            }
            try bus.expose("app://pay")
            let journal = Journal<String>()
            var options = RPCRequestOptions()
            options.progress = { value in
                journal.add(value)
                return "\(value)0"
            }
            #expect(try await self.reply(connection, "app://pay", options) == "[10,20]")
            #expect(journal.entries == ["1", "2"])
        }
    }

    @Test func `the error of a socket without a server says that no server listens`() async throws {
        let connection = try ConnectionOptions.parse(["--connect", "/tmp/waybill-of-no-server"])
        let failure = try #require(try await failure(of: connection, "app://a"))
        #expect(failure.status == RequestFailure.unavailable)
        #expect(failure.line.hasPrefix("unreachable: "))
        #expect(failure.line.contains("no server listens at this address"))
        #expect(failure.line.contains("/tmp/waybill-of-no-server"))
    }

    @Test func `the error of a URL that is not exposed names the command that lists exposed URLs`()
        async throws
    {
        try await withServedBus { bus, connection in
            try bus.register("app://user/secret") { _ in }
            let failure = try #require(try await failure(of: connection, "app://user/secret"))
            #expect(failure.status == 1)
            #expect(failure.line.hasPrefix("noRoute: "))
            let address = try connection.address.argument
            #expect(failure.line.contains("waybill routes --connect \(address)"))
        }
    }

    @Test func `a token is read from a file, and a missing token is reported`() async throws {
        try await withServedBus(token: "open sesame") { bus, connection in
            try bus.register("app://one") { _ in 1 }
            try bus.expose("app://one")
            #expect(try await self.reply(connection, "app://one") == "1")
            let without = try ConnectionOptions.parse(["--connect", connection.address.argument])
            let failure = try #require(try await failure(of: without, "app://one"))
            #expect(failure.status == RequestFailure.notAdmitted)
            #expect(failure.line.contains("--token-file"))
        }
    }

    @Test func `the call command's deadline ends a call whose handler does not end`() async throws {
        try await withServedBus { bus, connection in
            let gate = Gate()
            try bus.register("app://slow") { _ async in await gate.wait() }
            try bus.expose("app://slow")
            var options = RPCRequestOptions()
            options.timeLeft = .milliseconds(20)
            let failure = try #require(try await failure(of: connection, "app://slow", options))
            #expect(failure.status == RequestFailure.timedOut)
            gate.open()
        }
    }

    @Test(arguments: ["", "{", "7", "{\"$waybill\": {}}", "{} {}"])
    func `invalid parameters are rejected before anything is sent`(parameters: String) async throws {
        let connection = try ConnectionOptions.parse(["--connect", "/tmp/waybill-of-no-server"])
        var options = RPCRequestOptions()
        options.parameters = parameters
        let failure = try #require(try await failure(of: connection, "app://a", options))
        #expect(failure.line.hasPrefix("invalidParameter: "))
    }

    @Test(arguments: [["--answer", "confirm"], ["--answer", ""], ["--json", "{"], ["--json", ""]])
    func `a text that is not JSON is rejected before the command connects`(arguments: [String]) {
        #expect(throws: (any Error).self) {
            try CallCommand.parse(["app://a", "--connect", "b"] + arguments)
        }
        #expect(throws: Never.self) {
            try CallCommand.parse(["app://a", "--connect", "b", "--answer", "\"confirm\""])
        }
    }

    @Test func `a header without a name is rejected`() {
        #expect(throws: (any Error).self) {
            try CallCommand.parse(["app://a", "--connect", "b", "--header", "=x"])
        }
    }

    @Test func `control characters of a reply do not reach the terminal`() {
        #expect(Output.printable("\"a\u{9B}31m\u{7F}b\"") == "\"a\\u009b31m\\u007fb\"")
        #expect(Output.printable("\"ü €\"") == "\"ü €\"")
    }

    @Test func `JSON with white space between its tokens is printed as one line of JSON`() {
        #expect(Output.line(ofJSON: "{\"a\":[1,\t2,\r\n3]}") == "{\"a\":[1, 2,  3]}")
    }

    @Test func `a file in an argument may be a pipe, and must be UTF-8`() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("app://a\n".utf8))
        try pipe.fileHandleForWriting.close()
        let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        #expect(try Output.text(ofFile: path) == "app://a\n")
        let invalid = Pipe()
        try invalid.fileHandleForWriting.write(contentsOf: Data([0xFF]))
        try invalid.fileHandleForWriting.close()
        let error = #expect(throws: FileError.self) {
            try Output.text(ofFile: "/dev/fd/\(invalid.fileHandleForReading.fileDescriptor)")
        }
        #expect(error?.status == .unreadable)
    }
}
#endif
