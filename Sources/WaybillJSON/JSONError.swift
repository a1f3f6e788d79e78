internal import WaybillRouting

/// The reason why bytes are rejected as JSON.
package enum JSONError: Error, Hashable, CustomStringConvertible {
    /// The bytes are not UTF-8.
    case notUTF8
    /// The text is not JSON.
    ///
    /// The position is the index of the first invalid byte.
    case malformed(at: Int)
    /// Arrays and objects are nested deeper than the limit.
    case tooDeep(limit: Int)
    /// The value must be an object, but it is another kind of value.
    case notObject
    /// The text has more than 4 GiB.
    case tooLong
    /// The string at this byte has more consecutive combining marks than
    /// ``WaybillRouting/CombiningMarks/limit``.
    case combiningMarks(at: Int)

    /// Whether the text exceeds a limit, and is valid JSON up to there.
    package var isExcess: Bool {
        switch self {
        case .tooDeep, .combiningMarks: true
        case .notUTF8, .malformed, .notObject, .tooLong: false
        }
    }

    package var description: String {
        switch self {
        case .notUTF8: "the text is not UTF-8"
        case .malformed(let position): "the text is not JSON from byte \(position) on"
        case .tooDeep(let limit): "the text is nested deeper than \(limit) levels"
        case .notObject: "the value is not a JSON object"
        case .tooLong: "the text has more than 4 GiB"
        case .combiningMarks(let position):
            "the string at byte \(position) has more than \(CombiningMarks.limit) combining marks in a row"
        }
    }
}
