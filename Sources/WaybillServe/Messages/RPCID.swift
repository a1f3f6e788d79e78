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
