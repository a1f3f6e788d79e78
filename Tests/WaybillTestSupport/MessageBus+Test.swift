package import Logging
package import Waybill
package import WaybillRouting

extension MessageBus.Configuration {
    /// The default configuration without log output of dead letters.
    package static var quiet: Self {
        .init(logger: Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Returns the quiet configuration with other conventions.
    package static func quiet(by conventions: RoutingConventions) -> Self {
        var configuration = Self.quiet
        configuration.conventions = conventions
        return configuration
    }

    /// Returns the default configuration, whose dead letters are logged into a journal.
    package static func logging(to journal: Journal<String>) -> Self {
        .init(logger: Logger(label: "waybill.tests") { _ in JournalLogHandler(journal: journal) })
    }
}

extension MessageBus {
    /// Waits until no message is in flight, and returns whether that happened.
    package func settles() async -> Bool { await eventually { self.statistics.inFlight == 0 } }
}

/// A log handler that writes the metadata of log entries into a journal.
package struct JournalLogHandler: LogHandler {
    let journal: Journal<String>
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.trace

    package init(journal: Journal<String>) { self.journal = journal }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        self.journal.add("\(event.message) \(facts.joined(separator: " "))")
    }
}
