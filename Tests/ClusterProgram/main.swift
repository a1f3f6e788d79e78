// A node of the cluster `test` in a separate process: ClusterProgram NAME SERVER. It shares `app://work/**`,
// prints a line when it has joined, and leaves at SIGTERM.
#if NATS
import Waybill
import WaybillEventLoop
import WaybillNATS

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

struct Item: Codable, Sendable {
    let id: Int
    let node: String
}

struct Broken: Error, CustomStringConvertible { let description = "the disk is full" }

let (name, server) = (CommandLine.arguments[1], CommandLine.arguments[2])
let bus = MessageBus()

/// Notifies the calling node, without the deadline of the handler.
@Sendable func note(_ text: String) {
    Task.detached { bus.send("app://caller/note", parameters: ["text": text]) }
}

try bus.share("app://work/**", for: .all)
try bus.register("app://work/item/:id") { message -> Item in
    Item(id: try message.argument("id"), node: name)
}
try bus.register("app://work/slow") { _ async throws -> String in
    try await Task.sleep(for: .milliseconds(5))
    return name
}
try bus.register("app://work/broken") { _ in throw Broken() }
try bus.register("app://work/ask") { message async throws -> [Int] in
    var answers: [Int] = []
    for number in 1...3 { answers.append(try await message.reply(with: number, expecting: Int.self)) }
    return answers
}
try bus.register("app://work/echo") { message -> any Sendable in message.payload ?? "nothing" }
try bus.register("app://work/say") { message async throws -> Int in
    try await bus.publish("app://echo/said", parameters: ["text": try message.argument("text") as String])
}
try bus.register("app://work/stuck") { _ async throws in
    note("started")
    do {
        try await Task.sleep(for: .seconds(60))
    } catch {
        note("cancelled")
        throw error
    }
}
try bus.subscribe("app://work/news") { message in note("news \(message.parameters["text"] ?? "")") }

var configuration = ClusterNode.Configuration()
configuration.name = name
configuration.publicationFormat = .binaryEvents
let node = bus.join(NATSTransport(servers: [server], realm: "test"), configuration: configuration)
let signals = try await bus.eventLoop.signals(.terminate)
try await node.start()
print("joined")
fflush(nil)
let leaving = Task {
    for try await _ in signals { node.beginGracefulShutdown() }
}
try await node.run()
leaving.cancel()
await bus.shutDown()
#endif
