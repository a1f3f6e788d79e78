/// Why a text is not an address.
enum ScanFailure {
    case empty
    case tooLong
    case tooManySegments
    case tooManyQueryItems
    case notUTF8
    case noScheme
}

extension ScanFailure {
    /// The failure as callers see it.
    @inline(never)
    func routingError(_ text: String, _ limits: RoutingLimits) -> RoutingError {
        let message =
            switch self {
            case .empty: "an empty text is not a URL"
            case .tooLong:
                "the URL has \(text.utf8.count) bytes, more than the \(limits.urlLength) that `urlLength` allows"
            case .tooManySegments:
                "the URL has more segments than the \(limits.segments) that `segments` allows"
            case .tooManyQueryItems:
                "the URL has more query items than the \(limits.queryItems) that `queryItems` allows"
            case .notUTF8: "the percent-encoding of the URL is not UTF-8"
            case .noScheme: "the URL has no scheme, and here there is no default one"
            }
        // A text that is too long is not carried along whole: errors are logged.
        return RoutingError(
            .invalidURL,
            url: self == .tooLong ? String(text.unicodeScalars.prefix(64)) + "…" : text,
            message: message
        )
    }
}

extension AddressRules {
    /// The URL that a text hides which is percent-encoded as a whole, if the conventions know such URLs.
    @inline(never)
    func wholeURL(decodedFrom text: String, _ failure: ScanFailure) -> String? {
        guard self.conventions.decodesWholeURL, failure == .noScheme else { return nil }
        let bytes = text.utf8.span
        guard PercentCoding.isValid(bytes) else { return nil }
        let decoded = PercentCoding.text(bytes, 0..<bytes.count)
        return decoded.contains("://") && decoded.contains("?") && !text.contains("://") ? decoded : nil
    }
}
