/// A value that an expectation can change.
///
/// The operands of an expectation are constants.
final class Box<Value> {
    var value: Value

    init(_ value: Value) { self.value = value }
}
