/// A value that can be written into a URL and read from one.
///
/// `LosslessStringConvertible` types and enumerations with a raw value need no conformance: they are read as they are.
/// Conform a type whose text in a URL is another than its description, as `Date` is (ISO 8601), `UUID` and `URL`.
public protocol URLParameter: Sendable {
    /// Reads the value; nil if the text, which is decoded already, is none.
    init?(urlParameter: String)

    /// The text from which ``init(urlParameter:)`` makes the value again; it is not yet percent-encoded.
    var urlParameter: String { get }
}
