/// A middleware's place in a bus; keep it to take the middleware out again.
public struct MiddlewareRegistration: Sendable {
    let core: BusCore
    let id: Int?

    /// Takes the middleware out: messages that are routed afterwards do not meet it.
    ///
    /// Those that are on their way keep what they have begun with. Doing so again changes nothing.
    public func cancel() {
        guard let id = self.id else { return }
        self.core.directory.surround { $0.remove(id) }
        self.core.forget()
    }
}
