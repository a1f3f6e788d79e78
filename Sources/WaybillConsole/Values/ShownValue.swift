#if HTTP
internal import WaybillJSON
internal import WaybillRouting

/// Converts values to the form that may be shown.
///
/// This form is the shape of the value: its type and counts. If the configuration allows payloads, the form
/// is short JSON in which the values of hidden names are replaced.
struct ValueWriter: Sendable {
    let redaction: Redaction
    let showsPayloads: Bool

    /// The limits of the JSON: depth, number of members, length in bytes, and length of strings.
    private static let (depth, width, length, stringLength) = (6, 20, 2000, 200)
    /// The estimated size, in bytes, above which a value is not encoded as JSON.
    private static let sizeLimit = 1 << 16

    /// Returns the text to show for a value.
    func text(_ value: any Sendable) -> String {
        guard self.showsPayloads, let json = self.json(value) else {
            return Shape.of(value, hiding: self.redaction)
        }
        return json
    }

    /// Returns the text to show for a named value.
    func text(_ value: any Sendable, named name: String) -> String {
        self.redaction.hides(name) ? Redaction.mark : self.text(value)
    }

    /// Returns a value as short JSON; nil if the value cannot be encoded or is too large.
    func json(_ value: any Sendable) -> String? {
        guard ValueSize.estimate(value, upTo: Self.sizeLimit) < Self.sizeLimit,
            let text = try? JSONText(encoding: value)
        else { return nil }
        var writer = JSONWriter()
        self.write(text, into: &writer, depth: Self.depth)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func write(_ text: JSONText, into writer: inout JSONWriter, depth: Int) {
        switch text.shape {
        case .object:
            writer.raw("{")
            for (index, member) in (text.members ?? []).enumerated() {
                guard self.hasRoom(index, writer: writer, depth: depth) else {
                    writer.name(Redaction.mark, isFirst: index == 0)
                    writer.string(Redaction.mark)
                    break
                }
                writer.name(member.name, isFirst: index == 0)
                if self.redaction.hides(member.name) {
                    writer.string(Redaction.mark)
                } else {
                    self.write(member.value, into: &writer, depth: depth - 1)
                }
            }
            writer.raw("}")
        case .array:
            // A dictionary whose keys are not strings or numbers is an array of alternating keys and values.
            var hidesNext = false
            writer.raw("[")
            for (index, element) in (text.elements ?? []).enumerated() {
                if index > 0 { writer.raw(",") }
                guard self.hasRoom(index, writer: writer, depth: depth) else {
                    writer.string(Redaction.mark)
                    break
                }
                if hidesNext {
                    writer.string(Redaction.mark)
                } else {
                    self.write(element, into: &writer, depth: depth - 1)
                }
                hidesNext = index.isMultiple(of: 2) && element.string.map(self.redaction.hides) == true
            }
            writer.raw("]")
        case .string:
            let string = text.string ?? ""
            writer.string(
                string.utf8.count <= Self.stringLength
                    ? string : string.prefix(Self.stringLength) + Redaction.mark
            )
        case .null, .bool, .number: writer.raw(text)
        }
    }

    private func hasRoom(_ index: Int, writer: JSONWriter, depth: Int) -> Bool {
        index < Self.width && depth > 0 && writer.bytes.count < Self.length
    }
}

/// The reason for a failure, in the form that may be shown.
struct ShownFailure: Sendable, Equatable {
    let code: String
    let message: String

    /// The number of characters of an error message in which hidden values are searched for.
    private static let length = 8192

    /// Creates the form of an error that may be shown.
    ///
    /// The error message of a handler may contain values of a message, so it is shown only when payloads are
    /// shown.
    init(_ error: RoutingError, _ writer: ValueWriter, hiding hidden: [String]) {
        self.code = error.code.description
        guard writer.showsPayloads else {
            self.message = Self.sentence(for: error)
            return
        }
        let cause = error.shownCause.map { " (\(Self.described($0)))" } ?? ""
        // Replace hidden values before the text is shortened. Otherwise, a part of a value could remain.
        let text = String((error.message + cause).prefix(Self.length))
        self.message = SafeText.line(writer.redaction.sentence(text, without: hidden), limit: 500)
    }

    private static func described(_ cause: any Error) -> String {
        (cause as? RoutingError).map { "\($0.code): \($0.message)" } ?? "\(cause)"
    }

    /// Returns a sentence for an error code, without values of the message.
    private static func sentence(for error: RoutingError) -> String {
        let sentence =
            switch error.code {
            case .noRoute: "no pattern matches"
            case .noHandler: "the handler no longer exists"
            case .invalidURL: "the text is not a URL"
            case .missingParameter: "a parameter is missing"
            case .invalidParameter: "a parameter has another type than the handler needs"
            case .typeMismatch: "a value has another type than its reader expects"
            case .refused: "a middleware or a connector rejected the message"
            case .deadlineExceeded: "no reply arrived before the deadline"
            case .cancelled: "the caller was cancelled"
            case .mailboxFull: "too many messages wait for the module"
            case .hopLimitExceeded: "the message was forwarded too often"
            case .unreachable: "the handler cannot be reached"
            case .shutDown: "the bus has shut down"
            default: "the handler failed"
            }
        return error.cause.map { "\(sentence) (\(TypeName.of(Swift.type(of: $0))))" } ?? sentence
    }
}
#endif
