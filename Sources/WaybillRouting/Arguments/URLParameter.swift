/// A value that has a text in a URL.
///
/// `LosslessStringConvertible` types and enumerations with a raw value need no conformance. Conform a type
/// whose text in a URL differs from its description. `Date` (as ISO 8601), `UUID` and `URL` already conform.
public protocol URLParameter: Sendable {
    /// Creates a value from a percent-decoded text, or returns nil when the text does not represent a value.
    init?(urlParameter: String)

    /// The text from which ``init(urlParameter:)`` creates an equal value, before percent-encoding.
    var urlParameter: String { get }
}
