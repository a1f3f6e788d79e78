internal import FoundationEssentials

/// The lines that were typed at the prompt, in this run and in earlier runs.
///
/// The lines are kept in a file that only its owner can read, because a line may contain a session. If the
/// file cannot be read or written, the shop runs without a saved history.
struct History {
    /// The maximum number of lines.
    static let limit = 1_000

    private(set) var lines: [String] = []
    private let file: URL?

    /// Reads the history from a file, which then receives each new line.
    init(file: URL?) {
        self.file = file
        guard let file, let text = try? String(contentsOf: file, encoding: .utf8) else { return }
        self.lines = text.split(separator: "\n").suffix(Self.limit).map(String.init)
    }

    /// The file of the history: `$XDG_STATE_HOME/waybill-shop/history`, or in `~/.local/state` if the
    /// variable is not set.
    static var defaultFile: URL? {
        let home = Environment["HOME"].map { URL(filePath: $0).appending(path: ".local/state") }
        let state = Environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil }
        return (state ?? home)?.appending(path: "waybill-shop/history")
    }

    /// Adds a line, unless it is equal to the last line.
    mutating func append(_ line: String) {
        guard !line.isEmpty, line != self.lines.last else { return }
        self.lines.append(line)
        self.lines.removeFirst(max(0, self.lines.count - Self.limit))
        try? self.save()
    }

    private func save() throws {
        guard let file else { return }
        let manager = FileManager.default
        try manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(self.lines.map { "\($0)\n" }.joined().utf8).write(to: file, options: .atomic)
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
}
