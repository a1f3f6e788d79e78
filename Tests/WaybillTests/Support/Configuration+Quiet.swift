internal import Logging
internal import Waybill

extension MessageBus.Configuration {
    /// The defaults, with dead letters kept off the screen.
    static var quiet: Self { .init(logger: Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }) }

    /// The defaults, with dead letters written into a journal.
    static func logging(to journal: Journal<String>) -> Self {
        .init(logger: Logger(label: "waybill.tests") { _ in JournalLogHandler(journal: journal) })
    }
}

/// Writes the metadata of what is logged into a journal.
struct JournalLogHandler: LogHandler {
    let journal: Journal<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(journal: Journal<String>) { self.journal = journal }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        self.journal.add("\(event.message) \(facts.joined(separator: " "))")
    }
}
