/// Numbers and columns as text.
enum Format {
    static func number(_ value: Double, digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int((value * scale).rounded())
        guard digits > 0 else { return Self.grouped(scaled) }
        let fraction = String(abs(scaled) % Int(scale))
        let padding = String(repeating: "0", count: digits - fraction.count)
        let sign = scaled < 0 ? "-" : ""
        return "\(sign)\(Self.grouped(abs(scaled) / Int(scale))).\(padding)\(fraction)"
    }

    /// Returns a number with separated thousands, so that a column is easy to read.
    static func grouped(_ value: Int) -> String {
        var text = ""
        for (place, digit) in String(value.magnitude).reversed().enumerated() {
            if place > 0, place.isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return (value < 0 ? "-" : "") + String(text.reversed())
    }
}
