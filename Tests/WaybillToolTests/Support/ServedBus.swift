#if Tool
import ArgumentParser
import Foundation
import Logging
import Waybill
import WaybillEventLoop
import WaybillRouting
import WaybillServe
import WaybillTestSupport

@testable import WaybillTool

/// Runs a closure with a bus that is served at a Unix socket, and the arguments that connect to it.
func withServedBus(
    token: String? = nil,
    _ body: (MessageBus, ConnectionOptions) async throws -> Void
) async throws {
    let folder = "/tmp/waybill-\(UInt32.random(in: .min ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let bus = MessageBus(eventLoop: EventLoop(name: "server"), configuration: .quiet)
    var configuration = RPCServer.Configuration()
    configuration.token = token
    configuration.logger = Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }
    let server = RPCServer(bus, listening: .unix(folder + "/socket"), configuration: configuration)
    try await server.start()
    let task = Task { try await server.run() }
    var arguments = ["--connect", folder + "/socket"]
    if let token {
        try token.write(toFile: folder + "/token", atomically: true, encoding: .utf8)
        arguments += ["--token-file", folder + "/token"]
    }
    let outcome: Result<Void, any Error>
    do {
        outcome = .success(try await body(bus, try ConnectionOptions.parse(arguments)))
    } catch {
        outcome = .failure(error)
    }
    task.cancel()
    _ = try? await task.value
    await bus.shutDown()
    try outcome.get()
}

/// Returns the failure of a request in the form of the command.
func failure(
    of connection: ConnectionOptions,
    _ url: String,
    _ options: RPCRequestOptions = RPCRequestOptions()
) async throws -> RequestFailure? {
    let client = try connection.client()
    defer { client.close() }
    do {
        _ = try await client.request(url, options)
        return nil
    } catch let error as RPCRequestError {
        return RequestFailure(error, .server(try connection.address))
    }
}
#endif
