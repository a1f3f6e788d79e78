/// A value that changes inside an expectation, whose operands are constants.
final class Box<Value> {
    var value: Value

    init(_ value: Value) { self.value = value }
}
