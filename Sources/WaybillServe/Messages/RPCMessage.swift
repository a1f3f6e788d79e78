package import WaybillJSON

/// A JSON-RPC message whose members are known, but whose values are not decoded yet.
package struct RPCMessage: Sendable {
    /// The kinds of messages.
    package enum Content: Sendable {
        case request(RPCID, method: String, params: JSONNode?)
        case notification(method: String, params: JSONNode?)
        case result(RPCID, JSONText)
        case failure(RPCID, JSONText)
        /// The message is not valid.
        ///
        /// The ID is null if the message has no readable ID.
        case invalid(RPCID, String)
    }

    package let content: Content

    /// Whether the message is a `$/publish` notification, which is never answered.
    package var isPublication: Bool {
        if case .notification(SystemMethod.publish.rawValue, _) = self.content { true } else { false }
    }

    /// Whether the message is a notification about a request that is underway.
    package var isAboutRequest: Bool {
        guard case .notification(let method, _) = self.content else { return false }
        return SystemMethod.isAboutRequest(method)
    }

    /// The memory that the message uses, in bytes: its text, and the memory for its parameters and headers.
    let size: Int

    fileprivate init(_ node: JSONNode) {
        let length = node.text.range.count
        guard node.isObject else {
            self.size = length
            self.content = .invalid(.null, "the message is not a JSON object")
            return
        }
        var envelope = RPCEnvelope()
        node.forEachChild { envelope.note($0) }
        self.content = envelope.content
        // Most messages are short, and have few parameters.
        self.size = length < 128 ? length : length + envelope.parameterMemory(in: node)
    }
}

extension JSONNode {
    /// The memory that an object of parameters uses, in bytes, including its text.
    var memoryOfParameters: Int { self.text.range.count + self.memoryBesideText }

    /// The memory that an object of parameters uses in addition to its text, in bytes: 128 bytes for each
    /// parameter or header after the 16th.
    fileprivate var memoryBesideText: Int {
        // A shorter text has no more than 16 parameters.
        guard self.text.range.count > 32 else { return 0 }
        let headers = self[RPCParameters.reservedKey]?["headers"]
        return max(0, self.childCount + (headers?.childCount ?? 0) - 16) * 128
    }
}

/// The members of a message.
private struct RPCEnvelope {
    private var version: JSONNode?
    private var id: JSONNode?
    private var method: JSONNode?
    private var params: JSONNode?
    private var result: JSONNode?
    private var error: JSONNode?
    private var isAmbiguous = false

    mutating func note(_ member: JSONNode) {
        if member.isNamed("jsonrpc") {
            self.isAmbiguous = Self.set(&self.version, member) || self.isAmbiguous
        } else if member.isNamed("method") {
            self.isAmbiguous = Self.set(&self.method, member) || self.isAmbiguous
        } else if member.isNamed("params") {
            self.isAmbiguous = Self.set(&self.params, member) || self.isAmbiguous
        } else if member.isNamed("id") {
            self.isAmbiguous = Self.set(&self.id, member) || self.isAmbiguous
        } else if member.isNamed("result") {
            self.isAmbiguous = Self.set(&self.result, member) || self.isAmbiguous
        } else if member.isNamed("error") {
            self.isAmbiguous = Self.set(&self.error, member) || self.isAmbiguous
        }
    }

    /// Stores a member, and returns whether the message already had this member.
    ///
    /// A repeated member makes a message invalid, because two programs could read different values.
    private static func set(_ member: inout JSONNode?, _ value: JSONNode) -> Bool {
        defer { member = value }
        return member != nil
    }

    /// The memory that the parameters and headers of a message use in addition to their text, in bytes.
    func parameterMemory(in message: JSONNode) -> Int {
        guard let params else { return 0 }
        var memory = params.memoryBesideText
        guard let method, method.says(SystemMethod.publish.rawValue) else { return memory }
        // Publications that wait keep their outline, which also has the members that nobody reads.
        memory += message.outlineMemory
        memory += params["parameters"]?.memoryBesideText ?? 0
        params["messages"]?.forEachChild { memory += $0.memoryBesideText }
        return memory
    }

    /// The kind and the content of the message.
    var content: RPCMessage.Content {
        let id = self.id.map { RPCID($0.text) }
        let known = (id ?? nil) ?? .null
        if self.isAmbiguous { return .invalid(known, "a member occurs twice in the message") }
        guard let version, version.says("2.0") else {
            return .invalid(known, "`jsonrpc` is not \"2.0\"")
        }
        if case .some(.none) = id { return .invalid(.null, "`id` is neither a text nor a number nor null") }
        if let method { return self.call(id ?? nil, method) }
        if let error { return .failure(known, error.text) }
        if let result { return .result(known, result.kept) }
        return .invalid(known, "the member `method` is missing")
    }

    private func call(_ id: RPCID?, _ method: JSONNode) -> RPCMessage.Content {
        guard let method = method.string else { return .invalid(id ?? .null, "`method` is not a text") }
        if let params, !params.isObject, !params.isArray {
            return .invalid(id ?? .null, "`params` is neither an object nor an array")
        }
        if let id { return .request(id, method: method, params: params) }
        return .notification(method: method, params: params)
    }
}

/// The content of one frame.
package enum RPCFrame: Sendable {
    case message(RPCMessage)
    case batch([RPCMessage])
    /// A batch with more messages than the limit allows.
    case largeBatch(count: Int)
    /// The bytes are not JSON, or the JSON exceeds a limit.
    ///
    /// The ID is null if it cannot be found.
    case malformed(JSONError, RPCID)

    /// Creates a frame by parsing its bytes.
    ///
    /// - Parameters:
    ///   - text: The bytes of the frame.
    ///   - depth: The maximum depth of nested arrays and objects.
    ///   - batchLimit: The maximum number of messages in a batch.
    package init(_ text: JSONText, depth: Int, batchLimit: Int = .max) {
        do throws(JSONError) {
            // The outline needs four levels: the messages of a batch, their members, the parameters, and the
            // attachment in the parameters.
            let root = try JSONOutline(text, depthLimit: depth, levels: 4).root
            guard root.isArray else {
                self = .message(RPCMessage(root))
                return
            }
            let count = root.childCount
            guard count <= batchLimit else {
                self = .largeBatch(count: count)
                return
            }
            var messages: [RPCMessage] = []
            root.forEachChild { messages.append(RPCMessage($0)) }
            self = .batch(messages)
        } catch {
            self = .malformed(error, RPCID(searching: text.slice))
        }
    }

    /// The messages; empty if the frame is malformed or its batch is too large.
    package var messages: [RPCMessage] {
        switch self {
        case .message(let message): [message]
        case .batch(let messages): messages
        case .largeBatch, .malformed: []
        }
    }
}
