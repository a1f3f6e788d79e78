internal import Waybill

extension RoutingError {
    /// The error in one line, however long or strange the URL was.
    var line: String {
        let place = self.url.isEmpty ? "" : " \(SafeText.clip(self.url, to: 120))"
        return "\(self.code)\(place): \(SafeText.clip(self.reason, to: 400))"
    }

    /// What happened: when a handler failed, what it threw, and so on down to where it began.
    private var reason: String {
        switch self.cause {
        case let inner as RoutingError where inner.code == .handlerFailed: inner.reason
        case let cause? where self.code == .handlerFailed: "\(cause)"
        case let cause?: "\(self.message) (cause: \(cause))"
        case nil: self.message
        }
    }
}
