extension Address {
    /// Text as it stands in a segment or a query item of a URL: with everything percent-encoded that could mean
    /// something there.
    ///
    /// ```swift
    /// bus.send("app://log/write?text=\(Address.encode("a & b"))")
    /// ```
    public static func encode(_ text: String) -> String { PercentCoding.encode(text.utf8) }
}
