/// Whole numbers, which are what most parameters are: they are read where they stand, without making a text of them.
extension Parameters {
    /// What came of reading a number.
    @usableFromInline
    enum IntReading {
        case number(Int)
        /// There is no value of that name.
        case missing
        /// What there is has to be looked at as text: it is no number as it stands, or was passed with the call.
        case unread
    }

    @usableFromInline
    func readInt(_ name: String) -> IntReading {
        if let names = self.names, !names.areNone { return self.readNamedInt(name, names) }
        if self.layout.hasEscapes { return .unread }
        let bytes = self.text.utf8.span
        let range = PlainQuery.value(of: name.utf8.span, in: bytes, self.layout)
        if range == URLRange() { return .missing }
        return Self.reading(bytes, range)
    }

    @inline(__always)
    private static func reading(_ bytes: Span<UInt8>, _ range: URLRange) -> IntReading {
        let (start, end) = (range.start, range.end)
        guard let number = Decimal.digits(bytes, start, end) ?? Decimal.int(bytes, start, end) else {
            return .unread
        }
        return .number(number)
    }

    /// The number of a name that the path may have given, or the call.
    @inline(never)
    private func readNamedInt(_ name: String, _ names: RouteNames) -> IntReading {
        if let call = names.call, call[name] != nil { return .unread }
        guard let location = self.locate(name) else { return .missing }
        return Self.reading(self.text.utf8.span, location.range)
    }
}
