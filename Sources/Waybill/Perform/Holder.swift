/// Holds a value, but an object only as long as somebody else does.
struct Holder<Value: Sendable> {
    private let value: Value?
    private weak var object: AnyObject?
    private let isObject: Bool

    init(_ value: Value) {
        self.isObject = type(of: value as Any) is AnyClass
        self.value = self.isObject ? nil : value
        self.object = self.isObject ? value as AnyObject : nil
    }

    var held: Value? { self.isObject ? self.object as? Value : self.value }
}
