internal import FoundationEssentials

/// The lines that were typed at the prompt, this time and before.
///
/// They are kept in a file that only its owner can read, since a line may name a session. A history that
/// cannot be read or written is a history that is forgotten; the shop is open all the same.
struct History {
    /// How many lines are kept.
    static let limit = 1_000

    private(set) var lines: [String] = []
    private let file: URL?

    /// Reads the history from a file, and keeps it there.
    init(file: URL?) {
        self.file = file
        guard let file, let text = try? String(contentsOf: file, encoding: .utf8) else { return }
        self.lines = text.split(separator: "\n").suffix(Self.limit).map(String.init)
    }

    /// Where the history is: `$XDG_STATE_HOME/waybill-shop/history`, in `~/.local/state` if that is not set.
    static var defaultFile: URL? {
        let home = Environment["HOME"].map { URL(filePath: $0).appending(path: ".local/state") }
        let state = Environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil }
        return (state ?? home)?.appending(path: "waybill-shop/history")
    }

    /// Adds a line, unless it is the last one again.
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
