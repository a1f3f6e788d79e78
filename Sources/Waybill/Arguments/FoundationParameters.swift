#if Foundation
public import FoundationEssentials
public import WaybillRouting

/// A point in time in ISO 8601: `2026-11-21T08:30:00Z`, with or without fractions of a second.
extension Date: URLParameter {
    /// Creates a date from a point in time in ISO 8601.
    public init?(urlParameter: String) {
        let bytes = urlParameter.utf8
        guard let time = bytes.firstIndex(of: UInt8(ascii: "T")),
            let end = bytes.index(time, offsetBy: 9, limitedBy: bytes.endIndex)
        else { return nil }
        // Parse the fraction separately, because it may have more digits than milliseconds.
        let (whole, rest) = (urlParameter[..<end], urlParameter[end...])
        let fraction = rest.hasPrefix(".") ? rest.dropFirst().prefix { $0.isASCII && $0.isNumber } : ""
        let zone = fraction.isEmpty ? rest : rest[fraction.endIndex...]
        // The format style accepts other forms too, and ignores characters after the point in time.
        let form = Self.form(of: whole)
        guard form.drop(while: { $0 == "0" }) == "-00-00T00:00:00", form.utf8.count >= 19,
            ["Z", "+00", "+0000", "+00:00", "-00", "-0000", "-00:00"].contains(Self.form(of: zone)),
            let year = Int(whole.prefix { $0 != "-" })
        else { return nil }
        let (style, local) = (Date.ISO8601FormatStyle(), whole.drop { $0 != "-" })
        let text = "\(year < Self.firstYear ? year + 2000 : year)\(local)"
        // The style reads a day that the month does not have, or the second 60, as another time.
        guard let date = try? style.parse("\(text)\(zone)"),
            let readAgain = try? style.parse("\(text)Z").formatted(style),
            readAgain.drop(while: { $0 != "-" }) == "\(local)Z"
        else { return nil }
        var seconds = date.timeIntervalSinceReferenceDate + (Double("0.\(fraction)") ?? 0)
        if year < Self.firstYear { seconds -= Self.secondsOf2000Years }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }

    /// The year from which Foundation uses the Gregorian calendar, as ISO 8601 does for all years.
    ///
    /// The calendar repeats after 400 years, so an earlier year is converted as the year 2000 years later.
    private static let firstYear = 1583
    private static let start = Date(timeIntervalSinceReferenceDate: -152_672 * 86_400)
    private static let secondsOf2000Years = 5 * 146_097 * 86_400.0

    /// The point in time in ISO 8601; the date has no fraction of a second.
    private var wholeSeconds: String {
        let style = Date.ISO8601FormatStyle()
        if self >= Self.start { return self.formatted(style) }
        let text = self.addingTimeInterval(Self.secondsOf2000Years).formatted(style)
        guard let year = Int(text.prefix { $0 != "-" }), year >= 2000 else { return self.formatted(style) }
        let digits = "\(year - 2000)"
        return String(repeating: "0", count: 4 - digits.count) + digits + text.drop { $0 != "-" }
    }

    /// Returns a text with 0 in place of each digit.
    private static func form(of text: Substring) -> String {
        let bytes = text.utf8.map { (0x30...0x39).contains($0) ? 0x30 : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The point in time in ISO 8601.
    ///
    /// A fraction has three digits, or up to nine when three digits are not exact.
    public var urlParameter: String {
        let seconds = self.timeIntervalSinceReferenceDate.rounded(.down)
        let fraction = self.timeIntervalSinceReferenceDate - seconds
        // An infinite date has no text. A handler that receives `inf` rejects the parameter.
        guard fraction.isFinite else { return "\(seconds)" }
        let whole = Date(timeIntervalSinceReferenceDate: seconds).wholeSeconds
        guard fraction != 0 else { return whole }
        var text = whole
        for (digits, unit) in [(3, 1e3), (6, 1e6), (9, 1e9)] {
            let count = "\(Int(min((fraction * unit).rounded(), unit - 1)))"
            let zeros = String(repeating: "0", count: digits - count.count)
            text = "\(whole.dropLast()).\(zeros)\(count)Z"
            if Date(urlParameter: text) == self { break }
        }
        return text
    }
}

extension UUID: URLParameter {
    /// Creates a UUID from 8-4-4-4-12 hexadecimal digits, in either case.
    public init?(urlParameter: String) { self.init(uuidString: urlParameter) }

    /// The 8-4-4-4-12 hexadecimal digits.
    public var urlParameter: String { self.uuidString }
}

extension URL: URLParameter {
    /// Creates a URL from a percent-decoded text, which is percent-encoded inside of another URL.
    public init?(urlParameter: String) { self.init(string: urlParameter) }

    /// The URL's text.
    public var urlParameter: String { self.absoluteString }
}

extension Data: ScalarText {
    /// Creates data from Base64.
    package init?(scalarText: String) { self.init(base64Encoded: scalarText) }
}

extension Decimal: ScalarText {
    /// Creates a number from at most 38 significant digits.
    package init?(scalarText: String) {
        // `Decimal(string:)` ignores the characters after a number, and rounds a number with more digits.
        guard scalarText.allSatisfy({ "+-.0123456789Ee".contains($0) }), Double(scalarText) != nil,
            Self.significantDigits(of: scalarText) <= 38
        else { return nil }
        self.init(string: scalarText)
    }

    /// Returns the number of digits of a decimal number without the zeros at both ends.
    private static func significantDigits(of text: String) -> Int {
        let mantissa = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        let digits = mantissa.filter { (0x30...0x39).contains($0) }
        guard let first = digits.firstIndex(where: { $0 != 0x30 }),
            let last = digits.lastIndex(where: { $0 != 0x30 })
        else { return 0 }
        return last - first + 1
    }
}

#endif
