#if HTTP
internal import NIOCore
internal import WaybillJSON
internal import WaybillRouting

/// A description of a value without its content: the type of the value, and counts.
///
/// Examples are `String(12)`, `[Order](3)` and `Receipt{total: Money}`.
///
/// This description, the value's shape, is created when a value is recorded, so that the recorder does not
/// retain the value. To create a shape, no code of the program runs. The shape of a value with a custom
/// mirror is only its type. The shape of an object is only its type as well, because another thread may
/// change the object's properties.
struct Shape {
    private let redaction: Redaction
    private var text = ""

    /// The maximum depth of properties, the maximum number of properties, and the maximum length of the text.
    private static let (depth, width, length) = (2, 12, 240)

    private init(_ redaction: Redaction) { self.redaction = redaction }

    /// Returns the shape of a value.
    static func of(_ value: any Sendable, hiding redaction: Redaction) -> String {
        var shape = Shape(redaction)
        shape.add(value, depth: Self.depth)
        return shape.text.utf8.count <= Self.length
            ? shape.text : String(shape.text.prefix(Self.length)) + "…"
    }

    private mutating func add(_ value: Any, depth: Int) {
        if let text = value as? String { return self.add(count: text.utf8.count, of: "String") }
        if let encoded = value as? JSONText { return self.add(encoded) }
        let type = Swift.type(of: value)
        if type is AnyClass {
            self.text += TypeName.of(type)
            return
        }
        if let counted = value as? any Counted {
            return self.add(count: counted.count, of: TypeName.of(type))
        }
        if let optional = value as? any Wrapper {
            if let wrapped = optional.wrapped { return self.add(wrapped, depth: depth) }
            self.text += "nil"
            return
        }
        let name = TypeName.of(type)
        if value is any CustomReflectable {
            self.text += name
            return
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .tuple where mirror.children.isEmpty: self.text += "Void"
        case .struct where depth > 0 && !mirror.children.isEmpty:
            self.text += name
            self.add(mirror.children, depth: depth)
        default: self.text += name
        }
    }

    private mutating func add(_ children: Mirror.Children, depth: Int) {
        self.text += "{"
        for (index, child) in children.enumerated() {
            if index > 0 { self.text += ", " }
            guard index < Self.width, self.text.utf8.count < Self.length else {
                self.text += "…"
                break
            }
            let label = child.label ?? "\(index)"
            self.text += "\(label): "
            if self.redaction.hides(label) {
                self.text += Redaction.mark
            } else {
                self.add(child.value, depth: depth - 1)
            }
        }
        self.text += "}"
    }

    /// Adds the shape of a value that is stored as JSON.
    ///
    /// The content of arrays and objects is not decoded, because a peer could send content for which this
    /// takes long.
    private mutating func add(_ encoded: JSONText) {
        switch encoded.shape {
        case .null: self.text += "null"
        case .bool, .number: self.text += TypeName.of(Swift.type(of: encoded.plain))
        case .string: self.add(count: encoded.string?.utf8.count ?? 0, of: "String")
        case .array: self.add(count: encoded.count ?? 0, of: "Array")
        case .object: self.add(count: encoded.count ?? 0, of: "Object")
        }
    }

    private mutating func add(count: Int, of name: String) { self.text += "\(name)(\(count))" }
}

/// A quick estimate of the size of values.
enum ValueSize {
    /// Returns the estimated size of a value in bytes, at most `limit`.
    ///
    /// An object, and a value with a custom mirror that refers to memory elsewhere, count 1 KiB, because the
    /// method cannot read their content. A value with more than 1024 parts counts `limit` bytes.
    static func estimate(_ value: any Sendable, upTo limit: Int) -> Int {
        var (nodes, size) = (1024, 0)
        Self.add(value, size: &size, nodes: &nodes, limit: limit)
        return nodes > 0 ? min(size, limit) : limit
    }

    /// The estimated size of content that cannot be read.
    private static let unreadable = 1024

    private static func add(_ value: Any, size: inout Int, nodes: inout Int, limit: Int) {
        size += 16
        nodes -= 1
        guard size < limit, nodes > 0 else { return }
        if let text = value as? String {
            size += text.utf8.count
            return
        }
        if let encoded = value as? JSONText {
            size += encoded.slice.count
            return
        }
        if let bytes = value as? any RandomAccessCollection<UInt8> {
            size += bytes.count
            return
        }
        if let buffer = value as? ByteBuffer {
            size += buffer.storageCapacity
            return
        }
        let type = Swift.type(of: value)
        if type is AnyClass {
            size += Self.unreadable
            return
        }
        if let counted = value as? any Counted {
            // The first elements are the sample for the estimate of all elements.
            var sample = 0
            let first = counted.sample(8)
            for element in first { Self.add(element, size: &sample, nodes: &nodes, limit: limit) }
            size += first.isEmpty ? 0 : max(1, sample / first.count) * counted.count
            return
        }
        if let value = value as? any CustomReflectable, !(value is any Wrapper) {
            size += Self.inlineSize(of: value) ?? Self.unreadable
            return
        }
        for child in Mirror(reflecting: value).children {
            Self.add(child.value, size: &size, nodes: &nodes, limit: limit)
        }
    }

    /// Returns the size of a value's type if values of the type refer to no other memory, such as a date.
    private static func inlineSize<Value: CustomReflectable>(of value: Value) -> Int? {
        _isPOD(Value.self) ? MemoryLayout<Value>.size : nil
    }
}

/// A collection of the standard library, whose count takes constant time.
private protocol Counted {
    var count: Int { get }
    func sample(_ count: Int) -> [Any]
}

extension Counted where Self: Sequence {
    fileprivate func sample(_ count: Int) -> [Any] { Array(self.prefix(count)) }
}

extension Array: Counted {}
extension ArraySlice: Counted {}
extension ContiguousArray: Counted {}
extension Set: Counted {}
extension Dictionary: Counted {}

/// An optional whose type is not known at compile time.
private protocol Wrapper {
    var wrapped: Any? { get }
}

extension Optional: Wrapper {
    fileprivate var wrapped: Any? { self }
}
#endif
