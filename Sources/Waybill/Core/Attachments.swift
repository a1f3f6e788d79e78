internal import WaybillEventLoop

/// The values that other products of the package store in a bus, with at most one value of each type.
///
/// The bus releases the values when it ends.
package final class Attachments: Sendable {
    /// The values by type; nil after the bus has ended.
    private let values = Locked<[ObjectIdentifier: any Sendable]?>([:])

    /// Returns the value of a type, or nil when none is set.
    package func value<Value: Sendable>(of type: Value.Type) -> Value? {
        self.values.withLock { $0?[ObjectIdentifier(type)] } as? Value
    }

    /// Returns the value of a type, or returns the given value and sets it, unless the bus has ended.
    package func value<Value: Sendable>(of type: Value.Type, orSet value: @autoclosure () -> Value) -> Value {
        self.values.withLock { values in
            if let present = values?[ObjectIdentifier(type)] as? Value { return present }
            let value = value()
            values?[ObjectIdentifier(type)] = value
            return value
        }
    }

    /// Sets a value, which replaces the previous value of the same type, unless the bus has ended.
    package func set<Value: Sendable>(_ value: Value) {
        _ = self.values.withLock { $0?.updateValue(value, forKey: ObjectIdentifier(Value.self)) }
    }

    func removeAll() { _ = self.values.withLock { Swift.exchange(&$0, with: nil) } }
}

extension MessageBus {
    /// The values that other products attach to the bus, in an object that does not retain the bus.
    package var attachments: Attachments { self.core.attachments }
}
