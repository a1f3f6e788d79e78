#if Tool && Durable
internal import ArgumentParser
internal import Foundation
internal import Waybill
internal import WaybillDurable
internal import WaybillServe

/// The command that reads and repairs a durable store, in its file or through the process that has the file
/// open.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Lists, retries and drops the messages of a durable store.",
        usage: """
            waybill store <file> <action> [<options>]
            waybill store --connect <address> <action> [<options>]
            """,
        discussion: """
            Only one process at a time can open the file of a store. If a process has opened it, the command reaches the \
            store with --connect, through a socket that the process serves. The process must have registered and exposed the \
            routes of the store (MessageBus.registerOperations).

            ACTIONS:
              list       the messages, with number, state, attempts, time of sending, URL and last failure
              show       one message with its values (--id)
              retry      sends dead letters again, with all of their attempts
              drop       deletes dead letters
              schedules  the schedules, with their next times
              stats      the statistics of the store
              check      reads the whole file, and reports damage
              export     all messages, one JSON object on each line

            EXAMPLES:
              waybill store shop.db list --dead
              waybill store shop.db retry --matching 'app://mail/**'
              waybill store shop.db drop --id 17
              waybill store --connect shop.sock stats
            """
    )

    /// The actions on a store.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, show, retry, drop, schedules, stats, check, export
    }

    @Argument(help: "The file of the store. Leave it out with --connect.")
    var file: String?

    @Argument(help: "The action, from the list above.")
    var action: Action?

    @OptionGroup var connection: ConnectionOptions

    @Option(help: "With --connect: the URL under which the program registered the store's routes.")
    var url = "app://store"

    @Option(help: "Selects the messages whose URL matches this pattern, instead of all.")
    var matching: String?

    @Option(help: "Selects the message with this number.")
    var id: Int?

    @Option(help: "The maximum number of messages to list.")
    var limit = 100

    @Flag(help: "Lists dead letters only.")
    var dead = false

    @Flag(help: "With list, show, schedules and stats: prints one JSON object on each line.")
    var json = false

    mutating func validate() throws {
        if self.connection.connect != nil, self.action == nil {
            self.action = self.file.flatMap(Action.init(rawValue:))
            if self.action != nil { self.file = nil }
        }
        guard (self.file == nil) != (self.connection.connect == nil) else {
            throw ValidationError("Give either a file or --connect ADDRESS.")
        }
        guard let action else {
            throw ValidationError(
                "Pass an action: \(Action.allCases.map(\.rawValue).joined(separator: ", "))."
            )
        }
        if action == .show, self.id == nil {
            throw ValidationError("`show` requires the number of a message: --id NUMBER.")
        }
        if self.json, [.retry, .drop, .check].contains(action) {
            throw ValidationError("`\(action.rawValue)` prints no JSON: leave out --json.")
        }
        if self.limit < 1 { throw ValidationError("--limit must be at least 1.") }
    }

    func run() async throws {
        do {
            if let file {
                try await self.perform(onFile: file)
            } else {
                let client = try self.connection.client()
                defer { client.close() }
                try await self.connection.report {
                    try await self.perform(on: ServedStore(client, at: self.url))
                }
            }
        } catch let error as DurableError {
            Output.complain(error.message + (error.code == .inUse ? self.adviceToConnect : ""))
            throw ExitCode.failure
        } catch let error as RoutingError {
            Output.complain(error.message)
            throw ExitCode.failure
        } catch is DecodingError {
            Output.complain("\(self.url) is not the URL of a store; pass the URL of its routes with --url")
            throw ExitCode.failure
        }
    }

    private var adviceToConnect: String {
        ". If the process exposes the routes of its store, use `waybill store --connect ADDRESS` instead"
    }

    private func perform(onFile file: String) async throws {
        // Opening a store would create a missing file.
        guard FileManager.default.fileExists(atPath: file) else {
            throw FileError(file, .unreadable, because: "the file does not exist")
        }
        // It would also add the tables of a store to another program's database.
        guard try DurableStore.isStore(file) else {
            throw FileError(file, .invalid, because: "the file is not the file of a store")
        }
        let store = try await DurableStore(file)
        let result = await Result(catching: { try await self.perform(on: store) })
        await store.close()
        try result.get()
    }

    private func perform(on store: any StoreOperations) async throws {
        switch self.action {
        case .list, .show:
            let isLong = self.action == .show
            var records: [DurableRecord] = []
            try await self.forEachPage(of: store, in: self.dead ? .dead : nil, id: self.id, upTo: self.limit)
            {
                records += $0
            }
            if records.isEmpty { Output.complain("the store has no such message") }
            try Output.write(
                self.json ? StoreReport.json(records) : StoreReport.table(records, isLong: isLong)
            )
            if isLong, records.isEmpty { throw ExitCode.failure }
        case .export:
            try await self.forEachPage(of: store, in: self.dead ? .dead : nil, id: self.id) {
                try Output.write(StoreReport.json($0))
            }
        case .retry:
            try self.report(try await store.retry(matching: self.matching, id: self.id), "waits again")
        case .drop: try self.report(try await store.drop(matching: self.matching, id: self.id), "is deleted")
        case .schedules:
            let schedules = try await store.schedules()
            try Output.write(self.json ? StoreReport.lines(schedules) : StoreReport.table(schedules))
        case .stats:
            let statistics = try await store.statistics()
            try Output.write(self.json ? StoreReport.lines([statistics]) : StoreReport.table(statistics))
        case .check:
            let problems = try await store.check()
            for problem in problems { try Output.write(Output.printable(problem) + "\n") }
            if !problems.isEmpty { throw ExitCode.failure }
            try Output.write("the file is not damaged\n")
        case nil: preconditionFailure("validate() has found an action")
        }
    }

    /// The maximum number of messages in one reply, which keeps replies with large values small enough.
    private static let pageSize = 100

    /// Calls a closure with the selected messages, one page after the other.
    private func forEachPage(
        of store: any StoreOperations,
        in state: DurableRecord.State? = nil,
        id: Int? = nil,
        upTo limit: Int = .max,
        _ body: ([DurableRecord]) throws -> Void
    ) async throws {
        var (previous, count) = (0, 0)
        while count < limit {
            let size = min(Self.pageSize, limit - count)
            let page = try await store.messages(
                in: state,
                matching: self.matching,
                id: id,
                after: previous,
                limit: size
            )
            try body(page)
            // The store shortens a page whose values are large, so only an empty page is the last one.
            guard let last = page.last else { return }
            previous = last.id
            count += page.count
        }
    }

    private func report(_ count: Int, _ verb: String) throws {
        if count == 0 { Output.complain("the store has no such dead letter") }
        try Output.write("\(count) \(count == 1 ? "message" : "messages"): each \(verb)\n")
        if count == 0, self.id != nil { throw ExitCode.failure }
    }
}

extension Result where Failure == any Error {
    fileprivate init(catching body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
#endif
