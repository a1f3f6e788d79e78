extension Message {
    /// Where the reply's value will be sent when the handler has returned, if anywhere: the URL in the fragment.
    ///
    /// It has the message's scheme if it has none of its own. A fragment is taken for a URL if it has a scheme or more than
    /// one segment, or if a route matches it; any other is left to the handler, in `address.fragment`. Nil also once
    /// the value has been sent or declined, for a message that was published, and if the handler has replied.
    ///
    /// The idea is FTRouter's: the fragment names who is called back when the destination is done.
    public var returnURL: String? { self.extras?.returnPath?.pendingURL }

    /// Sends a value to the return URL now, instead of the reply's value when the handler has returned.
    ///
    /// It is sent even if the handler fails afterwards. It can be called from anywhere, and by one who has kept the message.
    ///
    /// - Parameter value: what the message on the return URL carries as its payload.
    /// - Returns: false if there is no return URL, or it has been dealt with already.
    @discardableResult
    public func sendReturn(_ value: some Sendable) -> Bool {
        self.extras?.returnPath?.send(value, headers: self.returnHeaders) ?? false
    }

    /// Has the reply's value sent to another URL than the one in the fragment.
    ///
    /// - Parameter url: where to; without a scheme the message's scheme is meant. If it is no URL, the leg fails.
    /// - Returns: false if there is no return URL, or it has been dealt with already.
    @discardableResult
    public func replaceReturnURL(with url: String) -> Bool {
        self.extras?.returnPath?.replace(with: url) ?? false
    }

    /// Has nothing sent to the return URL; the caller still gets its reply.
    ///
    /// - Returns: false if there is no return URL, or it has been dealt with already.
    @discardableResult
    public func declineReturn() -> Bool { self.extras?.returnPath?.decline() ?? false }
}
