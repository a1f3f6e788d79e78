#if Durable
import Foundation
import Testing
import WaybillTestSupport

/// Kills processes that use a store.
///
/// The ledger is in the test process, which is not killed.
@Suite(.serialized) struct KillTests {
    @Test func `no durable message is lost, doubled or stuck when processes are killed at any moment`()
        async throws
    {
        let isSoak = ProcessInfo.processInfo.environment["WAYBILL_SOAK"] == "1"
        let path = temporaryPath()
        defer { removeStore(path) }
        var ledger = Ledger()
        let rounds = isSoak ? 1_000 : Scale.of(50)
        // A slow machine may need more rounds until the process has sent messages before it is killed.
        for round in 0..<max(rounds, 50) where round < rounds || ledger.accepted.count < 2 {
            let process = try LedgerProcess(path, ["send"] + ledger.numbersToSend.map(String.init))
            // The process prints its first line when the store is open, and is killed while it sends.
            ledger.read(try process.lines(for: .milliseconds(.random(in: 0...40))))
            process.kill()
            ledger.read(process.rest())
        }
        let last = try LedgerProcess(path, ["finish"])
        let lines = last.rest()
        #expect(lines.last == "done")
        #expect(ledger.accepted.count > 1)
        #expect(ledger.violations(in: lines) == [])
    }

    @Test func `a message whose handler ends its process is a dead letter, and other messages complete`()
        throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        var lines: [String] = []
        var starts = 0
        repeat {
            starts += 1
            lines = try LedgerProcess(path, ["poison"]).rest()
        } while lines.last != "done" && starts < 20
        #expect(lines.last == "done")
        #expect(lines.filter { $0.hasPrefix("dead") } == ["dead app://poison/5 4"])
        #expect(starts == 5)
    }
}

/// The numbers of the sent messages, and of the messages whose send was acknowledged.
struct Ledger {
    private(set) var tried: Set<Int> = []
    private(set) var accepted: Set<Int> = []

    /// The first new number, and the numbers whose sends were not acknowledged.
    var numbersToSend: [Int] {
        [(self.tried.max() ?? 0) + 1] + self.tried.subtracting(self.accepted).sorted()
    }

    mutating func read(_ lines: [String]) {
        for line in lines {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[1]) else { continue }
            if words[0] == "try" { self.tried.insert(number) }
            if words[0] == "ack" { self.accepted.insert(number) }
        }
    }

    func violations(in lines: [String]) -> [String] {
        var counts: [Int: Int] = [:]
        for line in lines where line.hasPrefix("effect ") {
            let words = line.split(separator: " ").dropFirst().compactMap { Int($0) }
            if words.count == 2 { counts[words[0]] = words[1] }
        }
        var violations = lines.filter { $0.hasPrefix("dead") }
        for number in self.accepted.flatMap({ [$0, $0 + 1_000_000] }) where counts[number] == nil {
            violations.append("lost \(number)")
        }
        for (number, count) in counts where count > 1 { violations.append("doubled \(number)") }
        return violations
    }
}

/// A running `LedgerProgram`.
final class LedgerProcess {
    private let process = Process()
    private let output = Pipe()
    private var unread = ""

    init(_ path: String, _ arguments: [String]) throws {
        self.process.executableURL = URL(filePath: CommandLine.arguments[0])
            .deletingLastPathComponent().appending(path: "LedgerProgram")
        self.process.arguments = [path] + arguments
        self.process.standardOutput = self.output
        try self.process.run()
    }

    deinit { self.kill() }

    /// Waits for the first output and then for a duration, and returns the complete lines of that time.
    func lines(for duration: Duration) throws -> [String] {
        self.unread += String(decoding: self.output.fileHandleForReading.availableData, as: UTF8.self)
        Thread.sleep(forTimeInterval: duration / .seconds(1))
        self.unread += String(decoding: self.output.fileHandleForReading.availableData, as: UTF8.self)
        return self.wholeLines()
    }

    func kill() {
        guard self.process.isRunning else { return }
        Foundation.kill(self.process.processIdentifier, SIGKILL)
        self.process.waitUntilExit()
    }

    /// Returns the lines until the process ends.
    func rest() -> [String] {
        self.unread += String(decoding: self.output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        self.process.waitUntilExit()
        return self.wholeLines()
    }

    private func wholeLines() -> [String] {
        let lines = self.unread.split(separator: "\n", omittingEmptySubsequences: false)
        self.unread = String(lines.last ?? "")
        return lines.dropLast().map(String.init)
    }
}
#endif
