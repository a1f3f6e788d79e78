internal import WaybillRouting

extension Message {
    /// The return URL in the fragment, to which the bus sends the reply's value when the handler has
    /// returned.
    ///
    /// A return URL without a scheme gets the message's scheme. A fragment is a return URL if it has a scheme
    /// or more than one segment, or if a route matches it. The handler can read any other fragment in
    /// `address.fragment`. The property is nil for a published message, when the value has been sent or
    /// declined, and when the handler has replied.
    ///
    /// The idea comes from the library FTRouter, where the fragment names the URL that is called at the end.
    public var returnURL: String? { self.extras?.returnPath?.pendingURL }

    /// Sends a value to the return URL now, and none when the handler returns.
    ///
    /// The value is sent even if the handler fails afterwards. You can call the method from any thread, and
    /// with a message that you have kept.
    ///
    /// A durable store sends the value of its message when the handler has returned. If the handler fails,
    /// the store drops the value, and logs a warning if the value comes after the failure. The next attempt
    /// can send a value again. If the store belongs to another process, a value after the return of the
    /// handler is dropped.
    ///
    /// - Parameter value: The payload of the message to the return URL.
    /// - Returns: false if the message has no return URL, if a value has already been sent, or if the handler
    ///   has called `declineReturn`.
    @discardableResult
    public func sendReturn(_ value: some Sendable) -> Bool {
        self.extras?.returnPath?.send(value, headers: self.returnHeaders) ?? false
    }

    /// Replaces the return URL by another URL.
    ///
    /// - Parameter url: The new return URL. A URL without a scheme gets the message's scheme. If the text is
    ///   not a URL, the delivery of the value fails.
    /// - Returns: false in the same cases as ``sendReturn(_:)``.
    @discardableResult
    public func replaceReturnURL(with url: String) -> Bool {
        self.extras?.returnPath?.replace(with: url) ?? false
    }

    /// Declines to send a value to the return URL.
    ///
    /// The caller still receives its reply.
    ///
    /// - Returns: false in the same cases as ``sendReturn(_:)``.
    @discardableResult
    public func declineReturn() -> Bool { self.extras?.returnPath?.close(as: .declined) ?? false }

    /// Lets the other process that handles the message send the reply's value to the return URL.
    ///
    /// - Returns: false in the same cases as ``sendReturn(_:)``.
    @discardableResult
    package func forwardReturn() -> Bool { self.extras?.returnPath?.close(as: .forwarded) ?? false }

    /// Makes the bus send no value when the handler returns.
    ///
    /// The calling code must call ``sendReturn(_:)`` or ``declineReturn()`` later, unless the method returns
    /// false because the message has no return URL.
    package func holdReturn() -> Bool {
        guard let path = self.extras?.returnPath else { return false }
        path.hold()
        return true
    }
}

extension BusCore {
    /// Returns the extras of a message, with the return path if the message has a return URL.
    @inline(never)
    func addingReturnPath(
        to extras: MessageExtras?,
        _ parameters: borrowing Parameters,
        _ id: CorrelationID,
        hops: Int
    ) -> MessageExtras? {
        guard parameters.hasFragment else { return extras }
        let address = parameters.address
        let external = extras?.external
        guard let fragment = address.fragment, !fragment.isEmpty,
            let url = self.returnURL(in: fragment, scheme: address.scheme, from: external?.audience)
        else { return extras }
        let path = ReturnPath(
            external?.returnID ?? id,
            to: url,
            scheme: address.scheme,
            hops: hops,
            sender: self,
            from: external,
            source: extras?.source
        )
        return (extras ?? .empty).replacing(returnPath: path)
    }

    /// Returns a message with its return path, which otherwise only the delivery to a handler adds.
    func addingReturnPath(to message: Message) -> Message {
        guard message.extras?.returnPath == nil else { return message }
        let (id, hops) = (message.id, message.hops)
        let extras = self.addingReturnPath(to: message.extras, message.parameters, id, hops: hops)
        return message.replacing(extras: extras)
    }

    /// Returns the return URL in a message's fragment, or nil by the rules of ``Message/returnURL``.
    ///
    /// For a peer, only exposed routes count. A return URL may itself have a return URL, so the fragment may
    /// be percent-encoded several times.
    func returnURL(
        in fragment: String,
        scheme: String,
        from audience: Audience? = nil,
        levels: Int? = nil
    ) -> String? {
        guard let target = self.returnAddress(fragment) else { return nil }
        let url = self.complete(fragment, scheme: scheme)
        let isURL =
            target.hasScheme || target.segments.count > 1
            || self.matches(url) && (audience.map { self.isExposedForReturns(url, to: $0) } ?? true)
        if isURL { return url }
        // The caller may have percent-encoded the whole return URL, so that it could be a fragment. Text
        // after a `?` or `#` that is not encoded does not belong to the encoded text.
        let rest = fragment.drop { $0 != "?" && $0 != "#" }
        let levels = levels ?? self.configuration.hopLimit
        guard levels > 0, let decoded = target.segments.first, decoded + rest != fragment else { return nil }
        return self.returnURL(in: decoded + rest, scheme: scheme, from: audience, levels: levels - 1)
    }

    /// Returns a URL with the given scheme if the URL has no scheme, or the URL unchanged.
    func complete(_ url: String, scheme: String) -> String {
        guard let target = self.returnAddress(url), !target.hasScheme else { return url }
        return target.text(withScheme: scheme)
    }

    /// Reads a return URL, which may have no scheme even if the conventions reject such URLs.
    func returnAddress(_ url: String) -> Address? {
        var conventions = self.configuration.conventions
        conventions.missingScheme = .usesDefault
        return try? Address(url, conventions: conventions, limits: self.configuration.limits)
    }

    /// Returns whether a route of this process matches a URL.
    func matches(_ url: String) -> Bool { self.registry.withTable { $0.canRoute(url) } }
}
