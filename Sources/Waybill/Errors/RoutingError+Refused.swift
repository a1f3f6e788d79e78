public import WaybillRouting

extension RoutingError {
    /// What a middleware or a connector throws that does not let a message pass.
    ///
    /// ```swift
    /// guard message.headers["user"] != nil else { throw RoutingError.refused("nobody is signed in") }
    /// ```
    ///
    /// - Parameters:
    ///   - message: why not, in one sentence for a person.
    ///   - cause: the error underneath, if another one led to this.
    /// - Returns: the error, which gets the message's URL on its way to the caller.
    public static func refused(_ message: String, cause: (any Error)? = nil) -> Self {
        Self(.refused, message: message, cause: cause)
    }
}
