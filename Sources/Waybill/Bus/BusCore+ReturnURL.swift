internal import WaybillRouting

extension BusCore {
    /// Follows up a message that has ended: a reply's value goes to the return URL, if there is one.
    func conclude(_ message: Message, _ outcome: Outcome) {
        guard message.parameters.hasFragment, case .replied(let value) = outcome,
            let url = self.returnURL(of: message)
        else { return }
        var request = Request(url: url)
        request.payload = value
        request.correlationID = message.id
        request.hops = message.hops + 1
        self.send(request)
    }

    /// The URL in a message's fragment, with the message's scheme if it has none of its own.
    ///
    /// A fragment is taken for a URL if it has a scheme or more than one segment, or if a route matches it; any other
    /// is left to the handler.
    private func returnURL(of message: Message) -> String? {
        let address = message.address
        guard let fragment = address.fragment, !fragment.isEmpty else { return nil }
        guard let target = try? Address(fragment, conventions: self.configuration.conventions) else {
            return nil
        }
        let url = target.hasScheme ? fragment : "\(address.scheme)://\(fragment.drop { $0 == "/" })"
        let isURL = target.hasScheme || target.segments.count > 1 || self.canRoute(url)
        return isURL ? url : nil
    }

    func canRoute(_ url: String) -> Bool {
        (try? self.directory.read { table throws(RoutingError) in table.canRoute(url) }) ?? false
    }
}
