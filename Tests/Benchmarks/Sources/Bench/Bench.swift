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
        for group in Figures.groups(options) {
            for name in group.names where options.includes(name) { Self.say(name) }
        }
        return []
    }

    /// Measures and reports; returns what missed what it must hold.
    private static func run(_ options: Options) async throws -> [Result] {
        let runner = Runner(
            rounds: options.rounds ?? (options.quick ? 3 : 21),
            sampleTime: options.quick ? 2_000_000 : 20_000_000
        )
        var table = Table()
        var missed: [Result] = []
        for group in Figures.groups(options) where group.names.contains(where: options.includes) {
            for figure in try group.make() where options.includes(figure.name) {
                let result = try await runner.measure(figure)
                if options.json { Self.say(result.json) } else { table.add(result) }
                if result.isMissed { missed.append(result) }
            }
        }
        if !options.json { for line in table.lines { Self.say(line) } }
        return missed
    }

    /// A line at once, also into a pipe.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    private static func complain(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
