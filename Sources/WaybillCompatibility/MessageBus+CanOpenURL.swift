public import Waybill
internal import WaybillRouting

extension MessageBus {
    /// Returns whether a URL can be opened, by the rule of the YFRouter library.
    ///
    /// The rule is that the URL has a lower-case scheme, and that `canRoute(_:)` returns true. The bus also
    /// routes some texts that do not satisfy the rule. A text without a scheme gets the default scheme of the
    /// bus, but other programs cannot open the text as a URL. The bus may also route a URL whose scheme has
    /// upper-case letters. YFRouter's `canOpenURL` returns false for such a URL, because it compares the
    /// scheme without converting it to lower case (RFC 3986, 6.2.2.1).
    public func canOpenURL(_ url: String) -> Bool {
        guard let address = try? Address(url, limits: self.configuration.limits), address.hasScheme else {
            return false
        }
        return url.hasPrefix("\(address.scheme):") && self.canRoute(url)
    }
}
