public import WaybillEventLoop

/// The value of a handler that is called in place, of the type that its caller asks for.
@usableFromInline
struct Answer<Value: Sendable> {
    @usableFromInline var value: Value?
    @usableFromInline var other: (any Sendable)?

    @inlinable
    init() {}

    /// Calls a handler and keeps its value; a value of the right type is neither boxed nor cast.
    @inlinable
    @inline(__always)
    mutating func take(from handler: Handler, _ message: Message, on bus: MessageBus) throws {
        let value = try handler.code.object.with(as: ImmediateBody<Value>.self) { try $0.call(message) }
        if let value {
            if message.hasReturnURL { bus.followReturnURL(of: message, with: value) }
            self.value = value
        } else {
            let value = try handler.call(message)
            if message.hasReturnURL { bus.followReturnURL(of: message, with: value) }
            self.other = value
        }
    }
}
