package import WaybillJSON
package import WaybillRouting

/// The ID of a request in the form that its sender wrote: a number, a text or null.
package enum RPCID: Hashable, Sendable {
    case number(Int)
    case string(ExactText)
    /// A number with a fraction, or a number that exceeds `Int`, in its original spelling.
    case literal(ExactText)
    case null

    /// Creates an ID from a JSON value, or returns nil if the value is not null, a string or a number.
    init?(_ text: JSONText) {
        switch text.shape {
        case .null: self = .null
        case .string: self = .string(ExactText(text.string ?? ""))
        case .number:
            self =
                text.int.map { .number($0) }
                ?? .literal(ExactText(String(decoding: text.slice, as: UTF8.self)))
        default: return nil
        }
    }
}

extension RPCID {
    /// Finds the ID of a message whose text is not valid; the ID is null if there is none.
    ///
    /// With the ID, the sender of the message can end its request, for example if a value is nested too
    /// deeply. The search skips strings and counts brackets, and checks nothing else.
    init(searching bytes: ArraySlice<UInt8>) {
        var (depth, index) = (0, bytes.startIndex)
        var name: Range<Int>?
        self = .null
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                let end = Self.endOfString(in: bytes, from: index)
                name = index..<end
                index = end - 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ":") where depth == 1:
                guard let range = name, bytes[range].elementsEqual(#""id""#.utf8) else { break }
                self = Self.value(at: bytes[(index + 1)...])
                return
            default: break
            }
            index += 1
        }
    }

    /// Finds the ID of the request that an unreadable `$/answer` answers; nil for any other text.
    ///
    /// The handler of the request waits for this answer. The search is like ``init(searching:)``.
    init?(searchingAnswer bytes: ArraySlice<UInt8>) {
        guard bytes.first == UInt8(ascii: "{") else { return nil }
        var (depth, index) = (0, bytes.startIndex)
        var name = bytes[..<bytes.startIndex]
        var (hasMethod, isInParams, hasParams) = (false, false, false)
        var id: RPCID?
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                let end = Self.endOfString(in: bytes, from: index)
                name = bytes[index..<end]
                index = end - 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ":") where depth == 1:
                isInParams = name.elementsEqual(#""params""#.utf8)
                if isInParams && hasParams { return nil }
                hasParams = hasParams || isInParams
                guard name.elementsEqual(#""method""#.utf8) else { break }
                let method = Self.value(at: bytes[(index + 1)...])
                if hasMethod || method != .string(ExactText(SystemMethod.answer.rawValue)) { return nil }
                hasMethod = true
            case UInt8(ascii: ":") where depth == 2 && isInParams && id == nil:
                if name.elementsEqual(#""id""#.utf8) { id = Self.value(at: bytes[(index + 1)...]) }
            default: break
            }
            index += 1
        }
        guard hasMethod, let id, id != .null else { return nil }
        self = id
    }

    private static func endOfString(in bytes: ArraySlice<UInt8>, from start: Int) -> Int {
        var index = start + 1
        while index < bytes.endIndex, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, bytes.endIndex)
    }

    /// Returns the ID at the beginning of some bytes; null if the bytes begin with another value.
    private static func value(at bytes: ArraySlice<UInt8>) -> RPCID {
        let bytes = bytes.drop { $0 == UInt8(ascii: " ") }
        let isText = bytes.first == UInt8(ascii: "\"")
        let value =
            isText
            ? bytes[..<Self.endOfString(in: bytes, from: bytes.startIndex)]
            : bytes.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "}") }
        return (try? JSONText(validating: Array(value))).flatMap { Self($0) } ?? .null
    }
}

extension JSONWriter {
    package mutating func id(_ id: RPCID) {
        switch id {
        case .number(let number): self.raw(String(number))
        case .string(let id): self.string(id.text)
        case .literal(let id): self.raw(id.text)
        case .null: self.raw("null")
        }
    }
}
