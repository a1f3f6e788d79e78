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
        text.forEachMember { name, value in envelope.note(name, value) }
        self.init(text, envelope)
    }

    /// Reads a message whose members have been noted.
    fileprivate init(_ text: JSONText, _ envelope: RPCEnvelope) {
        self.content =
            text.shape == .object ? envelope.content : .invalid(.null, "a message is a JSON object")
    }
}

/// The members of a message.
private struct RPCEnvelope {
    private var version: JSONText?
    private var id: JSONText?
    private var method: JSONText?
    private var params: JSONText?
    private var result: JSONText?
    private var error: JSONText?
    private var isAmbiguous = false

    mutating func note(_ name: JSONText, _ value: JSONText) {
        // A member that is there twice would be read in two ways by two programs.
        var isNew = true
        if name.says("jsonrpc") {
            isNew = Self.set(&self.version, value)
        } else if name.says("id") {
            isNew = Self.set(&self.id, value)
        } else if name.says("method") {
            isNew = Self.set(&self.method, value)
        } else if name.says("params") {
            isNew = Self.set(&self.params, value)
        } else if name.says("result") {
            isNew = Self.set(&self.result, value)
        } else if name.says("error") {
            isNew = Self.set(&self.error, value)
        }
        if !isNew { self.isAmbiguous = true }
    }

    /// Sets a member, and says whether it is there for the first time.
    private static func set(_ member: inout JSONText?, _ value: JSONText) -> Bool {
        defer { member = value }
        return member == nil
    }

    var content: RPCMessage.Content {
        let id = self.id.map { RPCID($0) }
        let known = (id ?? nil) ?? .null
        if self.isAmbiguous { return .invalid(known, "a member is there twice") }
        guard self.version?.says("2.0") == true else { return .invalid(known, "`jsonrpc` is not \"2.0\"") }
        if case .some(.none) = id { return .invalid(.null, "`id` is neither a text nor a number nor null") }
        if let method { return self.call(id ?? nil, method) }
        if let error { return .failure(known, error) }
        if let result { return .result(known, result) }
        return .invalid(known, "there is no `method`")
    }

    private func call(_ id: RPCID?, _ method: JSONText) -> RPCMessage.Content {
        guard let method = method.string else { return .invalid(id ?? .null, "`method` is not a text") }
        if let params, params.shape != .object, params.shape != .array {
            return .invalid(id ?? .null, "`params` is neither an object nor an array")
        }
        if let id { return .request(id, method: method, params: self.params) }
        return .notification(method: method, params: self.params)
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
            let text = try text.validated(depthLimit: depth) { name, value in envelope.note(name, value) }
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
