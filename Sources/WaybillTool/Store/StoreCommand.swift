#if Tool && Durable
internal import ArgumentParser
internal import Foundation
internal import Waybill
internal import WaybillDurable

/// The command that reads and repairs the file of a durable store.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Lists, retries and drops the messages in the file of a durable store.",
        discussion: """
            Only one process at a time can open the file of a store. If another process has opened it, the command \
            fails and names that process. Stop it first.

            ACTIONS:
              list       the messages, with number, state, attempts, age, URL and last failure
              show       one message with its values (--id)
              retry      sends dead letters again, with their attempts counted from the beginning
              drop       deletes dead letters
              schedules  the schedules, with their next times
              stats      the figures of the store
              check      reads the whole file, and reports what is damaged
              export     all messages, one JSON object in a line

            EXAMPLES:
              waybill store shop.db list --dead
              waybill store shop.db retry --matching 'app://mail/**'
              waybill store shop.db drop --id 17
            """
    )

    /// The actions on a file.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, show, retry, drop, schedules, stats, check, export
    }

    @Argument(help: "The file of the store.")
    var file: String

    @Argument(help: "The action.")
    var action: Action

    @Option(help: "The pattern of the URLs; all messages if it is missing.")
    var matching: String?

    @Option(help: "The number of one message.")
    var id: Int?

    @Option(help: "The most messages to list.")
    var limit = 100

    @Flag(help: "Lists dead letters only.")
    var dead = false

    @Flag(help: "Prints JSON, one object in a line.")
    var json = false

    func validate() throws {
        if self.action == .show, self.id == nil {
            throw ValidationError("Give the message to show: --id NUMBER.")
        }
        if self.limit < 1 { throw ValidationError("--limit has to be at least 1.") }
    }

    func run() async throws {
        // The store would create a file that is missing.
        guard FileManager.default.fileExists(atPath: self.file) else {
            Output.complain("\(self.file) does not exist")
            throw ExitCode(66)
        }
        do {
            let store = try await DurableStore(self.file)
            let result = await Result(catching: { try await self.perform(on: store) })
            await store.close()
            try result.get()
        } catch let error as DurableError {
            Output.complain(error.message)
            throw ExitCode.failure
        } catch let error as RoutingError {
            Output.complain(error.message)
            throw ExitCode.failure
        }
    }

    private func perform(on store: DurableStore) async throws {
        switch self.action {
        case .list, .show:
            let records = try await store.messages(
                in: self.dead ? .dead : nil,
                matching: self.matching,
                id: self.id,
                limit: self.limit
            )
            if records.isEmpty { Output.complain("the store has no such message") }
            let isLong = self.action == .show
            try Output.write(
                self.json ? StoreReport.json(records) : StoreReport.table(records, isLong: isLong)
            )
            if isLong, records.isEmpty { throw ExitCode.failure }
        case .export:
            try Output.write(StoreReport.json(try await store.messages(matching: self.matching, limit: .max)))
        case .retry:
            try self.report(try await store.retry(matching: self.matching, id: self.id), "waits again")
        case .drop: try self.report(try await store.drop(matching: self.matching, id: self.id), "is deleted")
        case .schedules: try Output.write(StoreReport.table(try await store.schedules()))
        case .stats: try Output.write(StoreReport.table(try await store.statistics()))
        case .check:
            let problems = try await store.check()
            for problem in problems { try Output.write(Output.printable(problem) + "\n") }
            if !problems.isEmpty { throw ExitCode.failure }
            try Output.write("the file is whole\n")
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
