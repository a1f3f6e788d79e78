internal import WaybillRouting

extension BusCore {
    /// Sends a reply's value to the return URL of the message that it answers, if that has one.
    func conclude(_ message: Message, _ value: any Sendable) {
        guard message.parameters.hasFragment, let url = self.returnURL(of: message) else { return }
        let extras = MessageExtras(
            payload: value,
            headers: message.returnHeaders,
            correlationID: message.id
        )
        self.send(Request(url: url, extras: extras, hops: message.hops + 1))
    }

    /// The URL in a message's fragment, with the message's scheme if it has none of its own.
    ///
    /// A fragment is taken for a URL if it has a scheme or more than one segment, or if a route matches it; any other
    /// is left to the handler.
    private func returnURL(of message: Message) -> String? {
        let address = message.address
        guard let fragment = address.fragment, !fragment.isEmpty else { return nil }
        return self.returnURL(in: fragment, of: address)
    }

    private func returnURL(in fragment: String, of address: Address) -> String? {
        guard let target = try? Address(fragment, conventions: self.configuration.conventions) else {
            return nil
        }
        let url = target.hasScheme ? fragment : "\(address.scheme)://\(fragment.drop { $0 == "/" })"
        let isURL = target.hasScheme || target.segments.count > 1 || self.matches(url)
        if isURL { return url }
        // It may have been encoded as a whole, to be a fragment at all.
        guard let decoded = target.segments.first, decoded != fragment else { return nil }
        return self.returnURL(in: decoded, of: address)
    }

    private func matches(_ url: String) -> Bool {
        (try? self.directory.read { table throws(RoutingError) in table.canRoute(url) }) ?? false
    }
}
