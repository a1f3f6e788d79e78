package import WaybillJSON

/// The ID of a request, as its sender wrote it: a number, a text or null.
package enum RPCID: Hashable, Sendable {
    case number(Int)
    case string(String)
    /// A number with a fraction or beyond `Int`, in its own spelling.
    case literal(String)
    case null

    /// Reads an ID; nil if the value can be none.
    init?(_ text: JSONText) {
        switch text.shape {
        case .null: self = .null
        case .string: self = .string(text.string ?? "")
        case .number:
            self = text.int.map { .number($0) } ?? .literal(String(decoding: text.slice, as: UTF8.self))
        default: return nil
        }
    }
}

extension JSONWriter {
    package mutating func id(_ id: RPCID) {
        switch id {
        case .number(let number): self.raw(String(number))
        case .string(let text): self.string(text)
        case .literal(let text): self.raw(text)
        case .null: self.raw("null")
        }
    }
}
