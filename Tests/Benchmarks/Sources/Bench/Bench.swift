import Foundation
import Measure

@main
struct Bench {
    static func main() async {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            let missed = options.list ? Self.list(options) : try await Self.run(options)
            for result in missed { Self.complain("missed: \(result.verdict)") }
            if options.check, !missed.isEmpty { exit(1) }
        } catch UsageError.help {
            Self.say(Options.help)
        } catch UsageError.wrong(let message) {
            Self.complain("\(message)\n\n\(Options.help)")
            exit(64)
        } catch {
            Self.complain("\(error)")
            exit(70)
        }
    }

    private static func list(_ options: Options) -> [Result] {
        let names = Figures.groups(options).flatMap(\.names)
        let selection = options.selection(of: names)
        for name in names where selection.contains(name) { Self.say(name) }
        return []
    }

    /// Measures and reports the figures, and returns the figures that missed a limit.
    private static func run(_ options: Options) async throws -> [Result] {
        let runner = Runner(
            rounds: options.rounds ?? (options.quick ? 3 : 21),
            sampleTime: options.quick ? 2_000_000 : 20_000_000
        )
        var table = Table()
        var witness = Peers.witness
        var missed: [Result] = []
        let groups = Figures.groups(options)
        let selection = options.selection(of: groups.flatMap(\.names))
        if selection.isEmpty { throw UsageError.wrong("there is no figure of that name; see --list") }
        for group in groups where group.names.contains(where: selection.contains) {
            try await witness.measure()
            for figure in try group.make() where selection.contains(figure.name) {
                let result = try await runner.measure(figure)
                if options.json { Self.say(result.json) } else { table.add(result) }
                if result.isMissed { missed.append(result) }
            }
        }
        try await witness.measure()
        for line in Self.lines(table, witness, options) { Self.say(line) }
        return missed
    }

    /// The lines that follow the measurements.
    private static func lines(_ table: Table, _ witness: Witness, _ options: Options) -> [String] {
        if options.json { return [witness.json] }
        guard options.markdown else { return table.lines + ["", witness.line] }
        let date = Date().formatted(.iso8601.year().month().day())
        let machine = options.machine ?? "a machine without a description"
        let heading = "Measured on \(date) on \(machine)."
        return [heading, ""] + table.markdown(measured: date) + ["", witness.line]
    }

    /// Prints a line immediately, also into a pipe.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    private static func complain(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
