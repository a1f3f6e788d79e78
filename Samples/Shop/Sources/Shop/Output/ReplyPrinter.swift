internal import Waybill

/// Converts the value of a reply to the printed bytes.
struct ReplyPrinter {
    var format: ReplyFormat
    private let json = JSONWriter()

    init(format: ReplyFormat) { self.format = format }

    /// Appends a value, and the end of the line.
    func print(_ value: any Sendable, to bytes: inout [UInt8]) throws {
        switch self.format {
        case .json:
            if let value = value as? any Encodable {
                try self.json.write(document: value)
            } else {
                try self.json.write(document: value is Void ? nil : String(describing: value))
            }
            bytes.append(contentsOf: self.json.text.bytes)
        case .text:
            bytes.append(contentsOf: Self.text(of: value).utf8)
        }
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Returns the description of a value, or one line for each element of a list.
    static func text(of value: any Sendable) -> String {
        let text =
            switch value {
            case is Void: "done"
            case let list as [any Sendable]:
                list.isEmpty ? "nothing" : list.map { String(describing: $0) }.joined(separator: "\n")
            default: String(describing: value)
            }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { SafeText.line($0) }.joined(separator: "\n")
    }
}
