// A process with a store, which `KillTests` kills at random moments.
//
//   LedgerProgram FILE send FIRST [NUMBER ...]   sends the numbers again, and then FIRST and so on for ever
//   LedgerProgram FILE finish                    waits until all messages have ended, and prints the effects
//   LedgerProgram FILE poison                    sends ten messages, one of which ends the process
//
// The program prints `try N` before and `ack N` after each send, and one line `effect N COUNT` for each
// number.
#if Durable
#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import Waybill
import WaybillDurable

/// Prints a line immediately, also into a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

@MainActor func run() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 2 else { fatalError("usage: LedgerProgram FILE send|finish|poison [NUMBER ...]") }
    let store = try await DurableStore(arguments[1])
    try store.setPolicy(
        DurablePolicy(attempts: 1_000, backoff: Backoff(first: .milliseconds(1), longest: .milliseconds(5))),
        for: "app://ledger/**"
    )
    try store.setPolicy(
        DurablePolicy(attempts: 4, backoff: Backoff(first: .milliseconds(1), longest: .milliseconds(5))),
        for: "app://poison/:n"
    )
    try await store.transaction { transaction in
        try transaction.execute("CREATE TABLE IF NOT EXISTS effects (number INTEGER, attempt INTEGER)")
    }
    let bus = MessageBus()
    let write: @Sendable (Message) async throws -> Void = { message in
        let number = try message.parameters.require("n", as: Int.self)
        let attempt = message.attempt
        try await message.complete { transaction in
            try transaction.execute("INSERT INTO effects VALUES (?, ?)", number, attempt)
            if number < 1_000_000 {
                try transaction.send("app://ledger/second/\(number + 1_000_000)", order: "\(number % 3)")
            }
        }
    }
    try bus.register("app://ledger/first/:n", write)
    try bus.register("app://ledger/second/:n", write)
    try bus.register("app://poison/:n") { message in
        if message.parameters["n"] == "5" { kill(getpid(), SIGKILL) }
        try await Task.sleep(for: .milliseconds(1))
    }
    try await bus.attach(store)

    func send(_ number: Int) async throws {
        say("try \(number)")
        try await store.send("app://ledger/first/\(number)", key: "\(number)")
        say("ack \(number)")
    }

    switch arguments[2] {
    case "send":
        let numbers = arguments.dropFirst(3).compactMap { Int($0) }
        for number in numbers.dropFirst() { try await send(number) }
        var next = numbers.first ?? 0
        while true {
            try await send(next)
            next += 1
        }
    case "poison":
        for number in 1...10 { try await store.send("app://poison/\(number)", key: "poison \(number)") }
        fallthrough
    default:
        while case let statistics = try await store.statistics(), statistics.waiting + statistics.underway > 0
        {
            try await Task.sleep(for: .milliseconds(2))
        }
        let rows = try await store.transaction { transaction in
            try transaction.query("SELECT number, count(*) AS count FROM effects GROUP BY number")
        }
        for row in rows { say("effect \(row["number"]?.int ?? 0) \(row["count"]?.int ?? 0)") }
        for letter in try await store.messages(in: .dead) { say("dead \(letter.url) \(letter.attempts)") }
        say("done")
    }
}

try await run()
#endif
