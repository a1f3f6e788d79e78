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
    /// deeply.
    init(searching bytes: ArraySlice<UInt8>) {
        var id = RPCID.null
        Self.forEachMember(in: bytes) { depth, name, value in
            guard depth == 1, name.elementsEqual(#""id""#.utf8) else { return true }
            id = Self.value(at: value)
            return false
        }
        self = id
    }

    /// Finds the ID of the request that an unreadable `$/answer` answers; nil for any other text.
    ///
    /// The handler of the request waits for this answer.
    init?(searchingAnswer bytes: ArraySlice<UInt8>) {
        guard bytes.first == UInt8(ascii: "{") else { return nil }
        // A message that has a member twice is not valid.
        var methods: [RPCID] = []
        var (paramsCount, isInParams) = (0, false)
        var id: RPCID?
        Self.forEachMember(in: bytes) { depth, name, value in
            if depth == 1 {
                isInParams = name.elementsEqual(#""params""#.utf8)
                if isInParams { paramsCount += 1 }
                if name.elementsEqual(#""method""#.utf8) { methods.append(Self.value(at: value)) }
            } else if depth == 2, isInParams, id == nil, name.elementsEqual(#""id""#.utf8) {
                id = Self.value(at: value)
            }
            return true
        }
        guard methods == [.string(ExactText(SystemMethod.answer.rawValue))], paramsCount == 1, let id,
            id != .null
        else { return nil }
        self = id
    }

    /// Calls a closure with the depth and the quoted name of each member of a text that is not valid, and with
    /// the bytes after the colon, until the closure returns false.
    ///
    /// The search skips strings and counts brackets, and checks nothing else.
    private static func forEachMember(
        in bytes: ArraySlice<UInt8>,
        _ body: (_ depth: Int, _ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Bool
    ) {
        var (depth, index) = (0, bytes.startIndex)
        var name = bytes[..<bytes.startIndex]
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                let end = Self.endOfString(in: bytes, from: index)
                name = bytes[index..<end]
                index = end - 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ":"): if !body(depth, name, bytes[(index + 1)...]) { return }
            default: break
            }
            index += 1
        }
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
