extension Parameters {
    /// Whether a value that was passed with the call is an optional without a value.
    ///
    /// Such a parameter is missing: it wins over one of the URL, and is not the text "nil".
    @usableFromInline
    package static func isNil(_ value: any Sendable) -> Bool { (value as? any AnyOptional)?.isNil ?? false }
}
