// The public face, used as a user would. It compiles unchanged against the products Waybill and WaybillEventLoop
// (Swift 6 mode, default settings), runs, and prints one line per chapter that ends in "ok".
import Waybill
import WaybillEventLoop

struct User: Sendable, Equatable {
    var uid: Int
    var name: String
}
struct Receipt: Sendable, Equatable { var total: Int }

@MainActor func chapter(_ name: String, _ body: () async throws -> Bool) async {
    do { print(name, try await body() ? "ok" : "WRONG") } catch { print(name, "THREW", error) }
}

@MainActor func code(_ body: () async throws -> Void) async -> RoutingError.Code? {
    do { try await body() } catch let error as RoutingError { return error.code } catch {}
    return nil
}

actor Accounts: LoopBound {
    let eventLoop: EventLoop
    var users = [1: User(uid: 1, name: "Lili")]
    var visits: [Int] = []
    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
    func detail(uid: Int) -> User? {
        eventLoop.preconditionInEventLoop()
        visits.append(uid)
        return users[uid]
    }
}

actor Inbox {
    var receipts: [(Receipt, CorrelationID?)] = []
    func take(_ receipt: Receipt, _ id: CorrelationID?) { receipts.append((receipt, id)) }
}

let loop = EventLoop()
let bus = MessageBus(eventLoop: loop, configuration: .init(defaultScheme: "app"))
let accounts = Accounts(eventLoop: loop)
let inbox = Inbox()

try bus.register("app://feed/detail/:id") { message in
    precondition(message.parameters["id"] == "001" && message.parameters["city"] == "shanghai")
}
try bus.register("app://user/detail") { message -> User in
    User(uid: try message.parameters.require("uid"), name: message.parameters["name"] ?? "")
}
try bus.register("app://users/:uid", on: accounts) { accounts, message in
    accounts.detail(uid: try message.parameters.require("uid"))
}
try bus.register("app://config", object: User(uid: 9, name: "bound"))
try bus.register("app://slow") { _ in try await Task.sleep(for: .seconds(60)) }
try bus.register("app://broken") { _ -> Int in throw CancellationError() }
try bus.register("app://order/pay") { message -> Receipt in
    Receipt(total: try message.parameters.require("total"))
}
try bus.register("app://home/receipt") { message in
    await inbox.take(try message.payload(as: Receipt.self), message.correlationID)
}
try bus.register("app://upload") { message -> Int in
    var confirmed = 0
    for part in 1...3 { confirmed += try await message.reply(with: part, expecting: Int.self) }
    return confirmed
}

await chapter("object handler") {
    let user: User = try await bus.route("app://user/detail?uid=1&name=Lili")
    return user == User(uid: 1, name: "Lili")
}
await chapter("handler block, parameters with the call, default scheme") {
    try await bus.route("/feed/detail/001", parameters: ["city": "shanghai"])
    return true
}
await chapter("actor on its loop") {
    let user = try await bus.route("APP:///users/1/", as: User?.self)
    let visits = await accounts.visits
    return user?.name == "Lili" && visits == [1]
}
await chapter("bound object, reply with its correlation id") {
    let first = try await bus.route("app://config")
    let second = try await bus.route("app://config")
    return try first.value(as: User.self).uid == 9 && first.correlationID != second.correlationID
}
await chapter("errors say what happened") {
    let none = await code { try await bus.route("app://nobody/home") }
    let missing = await code { try await bus.route("app://user/detail") }
    let wrong = await code { try await bus.route("app://user/detail?uid=x") }
    let mismatch = await code { let _: Int = try await bus.route("app://config") }
    let failed = await code { try await bus.route("app://broken") }
    let invalid = await code { try await bus.route("") }
    return none == .noRoute && missing == .missingParameter && wrong == .invalidParameter
        && mismatch == .typeMismatch
        && failed == .handlerFailed && invalid == .invalidURL
}
await chapter("deadline") {
    let began = ContinuousClock.now
    let late = await code { try await bus.route("app://slow", deadline: .now + .milliseconds(50)) }
    return late == .deadlineExceeded && began.duration(to: .now) < .seconds(2)
}
await chapter("cancellation") {
    let task = Task { await code { try await bus.route("app://slow") } }
    try await Task.sleep(for: .milliseconds(50))
    task.cancel()
    return await task.value == .cancelled
}
await chapter("callback: replies before the last, answered") {
    var parts: [Int] = []
    let confirmed: Int = try await bus.route("app://upload") { (part: Int) -> Int in
        parts.append(part)
        return part * 10
    }
    return parts == [1, 2, 3] && confirmed == 60
}
await chapter("return URL in the fragment") {
    let reply = try await bus.route("app://order/pay?total=42#home/receipt")
    for _ in 0..<100 where await inbox.receipts.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    let (receipt, id) = await inbox.receipts[0]
    return receipt == Receipt(total: 42) && id == reply.correlationID
}
await chapter("publish and subscribe") {
    let heard = Inbox()
    for _ in 1...3 {
        try bus.subscribe("app://session/expired") { message in
            await heard.take(Receipt(total: 1), message.correlationID)
        }
    }
    let delivered = try await bus.publish("app://session/expired")
    let count = await heard.receipts.count
    return delivered == 3 && count == 3
}
await chapter("unregister, canRoute, uncaught") {
    let registration = try bus.register("app://brief") { _ in 1 }
    let before = bus.canRoute("app://brief")
    registration.cancel()
    bus.registerUncaught { message in precondition(message.address.scheme == "app") }
    return before && !bus.canRoute("app://brief")
}
await chapter("conflict names its rival") {
    do {
        try bus.register("app://user/:anything") { _ in 1 }
        try bus.register("app://user/:other") { _ in 2 }
    } catch let error as RoutingError {
        return error.code == .conflict && "\(error)".contains(":anything")
    }
    return false
}
await chapter("the books balance") {
    bus.send("app://user/detail?uid=1")
    let summary = await bus.shutDown(graceful: .now + .seconds(2))
    let books = bus.statistics
    return books.sent == books.replied + books.failed + books.expired + books.cancelled + books.deadLettered
        + books.inFlight
        && books.inFlight == 0 && summary.abandoned == 0
}
