internal import WaybillEventLoop

/// The values that other products keep with a bus until it ends, one of each type.
package final class Attachments: Sendable {
    private let values = Locked<[ObjectIdentifier: any Sendable]>([:])

    /// The value of a type, if one was set.
    package func value<Value: Sendable>(of type: Value.Type) -> Value? {
        self.values.withLock { $0[ObjectIdentifier(type)] } as? Value
    }

    /// The value of a type, which is set if there is none.
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
        // Released outside the lock: the deinitializer of what a value holds may use the bus.
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
    /// The values that other products keep with the bus; they do not keep the bus.
    package var attachments: Attachments { self.core.attachments }
}
