internal import WaybillEventLoop

/// Values that other products attach to a bus until it ends, at most one of each type.
package final class Attachments: Sendable {
    private let values = Locked<[ObjectIdentifier: any Sendable]>([:])

    /// Returns the value of a type, or nil when none is set.
    package func value<Value: Sendable>(of type: Value.Type) -> Value? {
        self.values.withLock { $0[ObjectIdentifier(type)] } as? Value
    }

    /// Returns the value of a type, and sets it first when there is none.
    package func value<Value: Sendable>(of type: Value.Type, orSet value: @autoclosure () -> Value) -> Value {
        self.values.withLock { values in
            if let present = values[ObjectIdentifier(type)] as? Value { return present }
            let value = value()
            values[ObjectIdentifier(type)] = value
            return value
        }
    }

    /// Sets the value of its type.
    package func set<Value: Sendable>(_ value: Value) {
        // Release the old value outside of the lock, because a deinitializer may use the bus.
        let old = self.values.withLock { $0.updateValue(value, forKey: ObjectIdentifier(Value.self)) }
        _ = consume old
    }

    func removeAll() {
        let old = self.values.withLock { values in
            defer { values = [:] }
            return values
        }
        _ = consume old
    }
}

extension MessageBus {
    /// The values that other products attach to the bus.
    ///
    /// They do not retain the bus.
    package var attachments: Attachments { self.core.attachments }
}
