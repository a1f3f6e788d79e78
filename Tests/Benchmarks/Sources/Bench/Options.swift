/// The options of the command line.
struct Options {
    static let help = """
        Takes the times of routing, matching and sending, each beside a peer in the same process.

        usage: Tests/bench [--json | --markdown] [--check] [--quick] [--filter NAME]... [--list] [--help]

          --json         one object per line: {"name", "ns", "peer", "peer_ns", "ratio", ...}, as they come
          --markdown     the table of Docs/Performance.md, with the machine above it and the date in each line
          --check        exit status 1 if a figure misses what it must hold
          --quick        fewer and shorter rounds: to see whether all works, not to compare
          --filter NAME  only the figure NAME, or those whose name contains it; may be repeated
          --list         the names of the figures
          --rounds N     how often a figure and its peer take turns; 21 by default

        A figure and its peer take turns, A B A B, and each is the median of its rounds; min and max are the
        fastest and the slowest round. `ns` is per iteration; what is not a time has null there, and its `value` has
        a `unit`. `ratio` is the figure's median over the peer's, so below 1 is faster than the peer.
        The machine should have nothing else to do. Under the table stands how much it was disturbed: how long
        two bare libuv loops take to wake each other, by the 46,000 ns of a quiet machine.
        """

    var json = false
    var markdown = false
    /// The description of the machine, which `Tests/bench` passes.
    var machine: String?
    var check = false
    var quick = false
    var list = false
    var rounds: Int?
    var filters: [String] = []
    /// The counts of `Tests/count` by name: `--counted allocations.match=0.0`.
    var counted: [(name: String, value: Double)] = []

    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var arguments = arguments.makeIterator()
        while let argument = arguments.next() {
            switch argument {
            case "--json": self.json = true
            case "--markdown": self.markdown = true
            case "--machine":
                guard let machine = arguments.next() else { throw .wrong("--machine needs a description") }
                self.machine = machine
            case "--check": self.check = true
            case "--quick": self.quick = true
            case "--list": self.list = true
            case "--help", "-h": throw .help
            case "--filter":
                guard let name = arguments.next() else { throw .wrong("--filter needs a name") }
                self.filters.append(name)
            case "--rounds":
                guard let text = arguments.next(), let rounds = Int(text), rounds > 0 else {
                    throw .wrong("--rounds needs a number above zero")
                }
                self.rounds = rounds
            case "--counted":
                let parts = (arguments.next() ?? "").split(separator: "=")
                guard parts.count == 2, let value = Double(parts[1]) else {
                    throw .wrong("--counted needs NAME=VALUE")
                }
                self.counted.append((String(parts[0]), value))
            default: throw .wrong("there is no option \(argument)")
            }
        }
        if self.json, self.markdown { throw .wrong("--json and --markdown exclude each other") }
    }

    /// Returns the figures that the filters select.
    func selection(of names: [String]) -> Set<String> {
        if self.filters.isEmpty { return Set(names) }
        return self.filters.reduce(into: []) { selection, filter in
            selection.formUnion(names.contains(filter) ? [filter] : names.filter { $0.contains(filter) })
        }
    }
}

/// The error of a command line that cannot be parsed.
enum UsageError: Error {
    case help
    case wrong(String)
}
