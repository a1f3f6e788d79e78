internal import Waybill

extension RoutingError {
    /// The error on one line of limited length, whatever the URL contains.
    var line: String {
        let place = self.url.isEmpty ? "" : " \(SafeText.line(self.url, limit: 120))"
        return "\(self.code)\(place): \(SafeText.line(self.reason, limit: 400))"
    }

    /// The message without code and URL.
    var shortLine: String { SafeText.line(self.reason, limit: 400) }

    /// The message of the handler's error, or of the error of the message that failed first.
    private var reason: String {
        let root = self.rootCause
        if let thrown = root.cause, root.code == .handlerFailed { return "\(thrown)" }
        if let cause = root.cause { return "\(root.message) (cause: \(cause))" }
        return self.cause == nil ? self.message : "\(root)"
    }
}
