package import WaybillJSON

/// One JSON-RPC message: its envelope is read, its values are not.
package struct RPCMessage: Sendable {
    /// What a message is.
    package enum Content: Sendable {
        case request(RPCID, method: String, params: JSONText?)
        case notification(method: String, params: JSONText?)
        case result(RPCID, JSONText)
        case failure(RPCID, JSONText)
        /// It is no message; the ID is null if it cannot be told.
        case invalid(RPCID, String)
    }

    package let content: Content

    /// Reads a message that was validated.
    package init(_ text: JSONText) {
        var envelope = RPCEnvelope()
        text.forEachMember { envelope.note($0, in: text) }
        self.init(text, envelope)
    }

    /// Reads a message whose members have been noted.
    fileprivate init(_ text: JSONText, _ envelope: RPCEnvelope) {
        self.content =
            text.shape == .object ? envelope.content(in: text) : .invalid(.null, "a message is a JSON object")
    }
}

/// Where the members of a message are.
private struct RPCEnvelope {
    private var version: Range<Int>?
    private var id: Range<Int>?
    private var method: Range<Int>?
    private var params: Range<Int>?
    private var result: Range<Int>?
    private var error: Range<Int>?
    private var isAmbiguous = false

    mutating func note(_ member: JSONText.Member, in text: JSONText) {
        if text.says("jsonrpc", at: member.name) {
            self.isAmbiguous = Self.set(&self.version, member.value) || self.isAmbiguous
        } else if text.says("id", at: member.name) {
            self.isAmbiguous = Self.set(&self.id, member.value) || self.isAmbiguous
        } else if text.says("method", at: member.name) {
            self.isAmbiguous = Self.set(&self.method, member.value) || self.isAmbiguous
        } else if text.says("params", at: member.name) {
            self.isAmbiguous = Self.set(&self.params, member.value) || self.isAmbiguous
        } else if text.says("result", at: member.name) {
            self.isAmbiguous = Self.set(&self.result, member.value) || self.isAmbiguous
        } else if text.says("error", at: member.name) {
            self.isAmbiguous = Self.set(&self.error, member.value) || self.isAmbiguous
        }
    }

    /// Notes a member, and says whether it is there for the second time: it would be read in two ways by two
    /// programs.
    private static func set(_ member: inout Range<Int>?, _ value: Range<Int>) -> Bool {
        defer { member = value }
        return member != nil
    }

    /// What the message is.
    func content(in text: JSONText) -> RPCMessage.Content {
        let id = self.id.map { RPCID(text[$0]) }
        let known = (id ?? nil) ?? .null
        if self.isAmbiguous { return .invalid(known, "a member is there twice") }
        guard let version, text.says("2.0", at: version) else {
            return .invalid(known, "`jsonrpc` is not \"2.0\"")
        }
        if case .some(.none) = id { return .invalid(.null, "`id` is neither a text nor a number nor null") }
        if let method { return self.call(id ?? nil, text[method], self.params.map { text[$0] }) }
        if let error { return .failure(known, text[error]) }
        if let result { return .result(known, text[result]) }
        return .invalid(known, "there is no `method`")
    }

    private func call(_ id: RPCID?, _ method: JSONText, _ params: JSONText?) -> RPCMessage.Content {
        guard let method = method.string else { return .invalid(id ?? .null, "`method` is not a text") }
        if let params, params.shape != .object, params.shape != .array {
            return .invalid(id ?? .null, "`params` is neither an object nor an array")
        }
        if let id { return .request(id, method: method, params: params) }
        return .notification(method: method, params: params)
    }
}

/// What one frame holds.
package enum RPCFrame: Sendable {
    case message(RPCMessage)
    case batch([RPCMessage])
    /// The bytes are no JSON that is accepted.
    case malformed(JSONError)

    /// Reads a frame.
    ///
    /// - Parameters:
    ///   - text: The bytes of the frame.
    ///   - depth: How deep arrays and objects may be nested.
    package init(_ text: JSONText, depth: Int) {
        do throws(JSONError) {
            var envelope = RPCEnvelope()
            let text = try text.validated(depthLimit: depth) { envelope.note($0, in: text) }
            if let elements = text.elements {
                self = .batch(elements.map { RPCMessage($0) })
            } else {
                self = .message(RPCMessage(text, envelope))
            }
        } catch {
            self = .malformed(error)
        }
    }
}
