/// Values that are passed with the call, where a type is needed that is made from text.
extension Parameters {
    /// The text of a passed value; nil if it is not text, because a description is not a value.
    @usableFromInline
    package static func givenText(_ passed: Any) -> String? {
        passed as? String ?? (passed as? Substring).map { String($0) }
    }

    /// A passed whole number as another type of number, if that has exactly this number.
    @usableFromInline
    package static func exactNumber<Value>(_ passed: Any, as type: Value.Type) -> Value? {
        guard let number = passed as? any BinaryInteger, let type = type as? any Numeric.Type
        else { return nil }
        return self.exactNumber(number, as: type) as? Value
    }

    private static func exactNumber<Number: Numeric>(_ number: some BinaryInteger, as: Number.Type) -> Number?
    {
        Number(exactly: number)
    }

    /// Whether a value that was passed with the call is an Optional without a value.
    ///
    /// Where no Optional is needed, such a parameter is missing: it wins over one of the URL, and is not the text "nil".
    @usableFromInline
    package static func isNil(_ value: Any) -> Bool { (value as? any AnyOptional)?.isNil ?? false }
}
