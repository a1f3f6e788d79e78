internal import WaybillRouting

extension Message {
    /// Where the reply's value will be sent when the handler has returned, if anywhere: the URL in the
    /// fragment.
    ///
    /// It has the message's scheme if it has none of its own. A fragment is taken for a URL if it has a
    /// scheme or more than one segment, or if a route matches it; any other is left to the handler, in
    /// `address.fragment`. Nil also once the value has been sent or declined, for a message that was
    /// published, and if the handler has replied.
    ///
    /// The idea is FTRouter's: the fragment names the URL that is called back when the destination is done.
    public var returnURL: String? { self.extras?.returnPath?.pendingURL }

    /// Sends a value to the return URL now, instead of the reply's value when the handler has returned.
    ///
    /// It is sent even if the handler fails afterwards. It can be called from anywhere, also with a message
    /// that was kept.
    ///
    /// - Parameter value: what the message on the return URL carries as its payload.
    /// - Returns: false if there is no return URL, or it has been dealt with already.
    @discardableResult
    public func sendReturn(_ value: some Sendable) -> Bool {
        self.extras?.returnPath?.send(value, headers: self.returnHeaders) ?? false
    }

    /// Has the reply's value sent to another URL than the one in the fragment.
    ///
    /// - Parameter url: where to; without a scheme the message's scheme is meant. If it is no URL, the leg
    ///   fails.
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

    /// Leaves the value for the return URL to the node that handles the message.
    @discardableResult
    package func forwardReturn() -> Bool { self.extras?.returnPath?.forward() ?? false }

    /// Keeps the return URL for later: the reply's value is not sent when the handler has returned, and
    /// ``sendReturn(_:)`` or ``declineReturn()`` has to follow.
    package func holdReturn() { self.extras?.returnPath?.hold() }
}

extension BusCore {
    /// Where the value of a message's reply goes, if it has a return URL.
    ///
    /// - Parameters:
    ///   - parameters: what the message's URL says.
    ///   - id: the message's ID.
    ///   - hops: how many routes led to the message.
    ///   - external: the peer that the message came from, and so the return URL with it.
    /// - Returns: the way of the value; nil if there is no return URL.
    func returnPath(
        of parameters: borrowing Parameters,
        _ id: CorrelationID,
        hops: Int,
        from external: @autoclosure () -> ExternalCaller?
    ) -> ReturnPath? {
        guard parameters.hasFragment else { return nil }
        return self.makeReturnPath(parameters.address, id, hops: hops, from: external())
    }

    /// Returns the extras of a message with its return URL.
    @inline(never)
    func addingReturnPath(
        to extras: MessageExtras?,
        _ parameters: borrowing Parameters,
        _ id: CorrelationID,
        hops: Int
    ) -> MessageExtras? {
        let path = self.returnPath(of: parameters, id, hops: hops, from: extras?.external)
        return path.map { (extras ?? .empty).with(returnPath: $0) } ?? extras
    }

    /// Returns a message that reaches no handler with its return URL: only a delivery gives one to a message.
    func addingReturnPath(to message: Message) -> Message {
        let extras = message.extras ?? .empty
        let path = self.returnPath(
            of: message.parameters,
            message.id,
            hops: message.hops,
            from: extras.external
        )
        guard let path, extras.returnPath == nil else { return message }
        return message.with(extras: extras.with(returnPath: path))
    }

    @inline(never)
    private func makeReturnPath(
        _ address: Address,
        _ id: CorrelationID,
        hops: Int,
        from external: ExternalCaller?
    ) -> ReturnPath? {
        guard let fragment = address.fragment, !fragment.isEmpty,
            let url = self.returnURL(in: fragment, scheme: address.scheme, from: external?.audience)
        else { return nil }
        let id = external?.returnID ?? id
        return ReturnPath(id, to: url, scheme: address.scheme, hops: hops, sender: self, from: external)
    }

    /// The URL in a message's fragment, with the message's scheme if it has none of its own.
    ///
    /// A fragment is taken for a URL if it has a scheme or more than one segment, or if a route matches it;
    /// any other is left to the handler. It may have been encoded once for each leg that it has still to go.
    /// For a peer, only routes that are exposed to peers exist.
    func returnURL(in fragment: String, scheme: String, from audience: Audience? = nil) -> String? {
        self.returnURL(
            in: fragment,
            scheme: scheme,
            levels: self.configuration.hopLimit,
            from: audience
        )
    }

    private func returnURL(
        in fragment: String,
        scheme: String,
        levels: Int,
        from audience: Audience?
    ) -> String? {
        guard let target = try? Address(fragment, conventions: self.configuration.conventions) else {
            return nil
        }
        let url = self.complete(fragment, scheme: scheme)
        let isURL =
            target.hasScheme || target.segments.count > 1
            || self.matches(url) && (audience.map { self.isExposedForReturns(url, to: $0) } ?? true)
        if isURL { return url }
        // It may have been encoded as a whole, to be a fragment at all; what follows a plain delimiter is not
        // part of that.
        let rest = fragment.drop { $0 != "?" && $0 != "#" }
        guard levels > 0, let decoded = target.segments.first, decoded + rest != fragment else { return nil }
        return self.returnURL(
            in: decoded + rest,
            scheme: scheme,
            levels: levels - 1,
            from: audience
        )
    }

    /// A URL with a scheme, if it had none.
    func complete(_ url: String, scheme: String) -> String {
        let target = try? Address(url, conventions: self.configuration.conventions)
        guard let target, !target.hasScheme else { return url }
        let path = url.drop { $0 == "/" }
        if self.configuration.conventions.host == .isFirstSegment { return "\(scheme)://\(path)" }
        // Behind two slashes stands a host, and what has no scheme has none either, unless it begins with
        // them.
        return url.hasPrefix("//") && !url.hasPrefix("///") ? "\(scheme):\(url)" : "\(scheme):///\(path)"
    }

    /// Whether a route of this process takes a URL.
    func matches(_ url: String) -> Bool {
        (try? self.registry.read { table throws(RoutingError) in table.canRoute(url) }) ?? false
    }
}
