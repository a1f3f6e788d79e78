#if HTTP
internal import WaybillJSON

/// Writes a JSON object, one member at a time.
struct JSONFields {
    private var writer: JSONWriter
    private var isEmpty = true

    init(capacity: Int = 512) {
        self.writer = JSONWriter(capacity: capacity)
        self.writer.raw("{")
    }

    /// The whole object.
    var bytes: [UInt8] {
        var writer = self.writer
        writer.raw("}")
        return writer.bytes
    }

    private mutating func name(_ name: String) {
        self.writer.name(name, isFirst: self.isEmpty)
        self.isEmpty = false
    }

    mutating func add(_ name: String, _ text: String?) {
        self.name(name)
        if let text { self.writer.string(text) } else { self.writer.raw("null") }
    }

    mutating func add(_ name: String, _ number: Int?) {
        self.name(name)
        self.writer.raw(number.map { "\($0)" } ?? "null")
    }

    /// Adds a number, rounded to six decimal places.
    mutating func add(_ name: String, _ number: Double) {
        self.name(name)
        self.writer.raw(number.isFinite ? "\((number * 1e6).rounded() / 1e6)" : "null")
    }

    mutating func add(_ name: String, _ flag: Bool) {
        self.name(name)
        self.writer.raw(flag ? "true" : "false")
    }

    mutating func add(_ name: String, _ texts: [String]) {
        self.name(name)
        self.writer.raw("[")
        for (index, text) in texts.enumerated() {
            if index > 0 { self.writer.raw(",") }
            self.writer.string(text)
        }
        self.writer.raw("]")
    }

    /// Adds a member whose value is already JSON.
    mutating func add(_ name: String, raw json: String) {
        self.name(name)
        self.writer.raw(json)
    }

    /// Adds a member whose value is an object.
    mutating func add(_ name: String, _ body: (inout JSONFields) -> Void) {
        self.name(name)
        self.object(body)
    }

    /// Adds a member whose value is an array of objects.
    mutating func add<Item>(_ name: String, items: [Item], _ body: (Item, inout JSONFields) -> Void) {
        self.name(name)
        self.writer.raw("[")
        for (index, item) in items.enumerated() {
            if index > 0 { self.writer.raw(",") }
            self.object { body(item, &$0) }
        }
        self.writer.raw("]")
    }

    /// Writes an object directly into the writer, without copying bytes.
    private mutating func object(_ body: (inout JSONFields) -> Void) {
        self.writer.raw("{")
        self.isEmpty = true
        body(&self)
        self.isEmpty = false
        self.writer.raw("}")
    }
}
#endif
