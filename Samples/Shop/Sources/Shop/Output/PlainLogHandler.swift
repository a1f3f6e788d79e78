internal import Logging
internal import Waybill

/// Writes each log entry of the bus, usually a dead letter, as one line on standard error.
struct PlainLogHandler: LogHandler {
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let text = event.metadata?["error"].map { "\(event.message): \($0)" } ?? "\(event.message)"
        var errors = FileOutput(2)
        errors.bytes.append(contentsOf: "shop: \(SafeText.line(text, limit: 400))\n".utf8)
        try? errors.flush()
    }
}
