public import Waybill
internal import WaybillRouting

extension MessageBus {
    /// Returns whether a URL can be opened, by the rule of YFRouter: it has a lower-case scheme, and
    /// `canRoute(_:)` returns true.
    ///
    /// URLs are compared with their schemes in lower case (RFC 3986, 6.2.2.1). The bus may route a text
    /// without a scheme by its default scheme, but other programs cannot open this text as a URL. The bus may
    /// also route a URL whose scheme has upper-case letters. YFRouter's `canOpenURL` does not find it,
    /// because it compares the scheme without a change.
    public func canOpenURL(_ url: String) -> Bool {
        guard let address = try? Address(url), address.hasScheme, url.hasPrefix("\(address.scheme):") else {
            return false
        }
        return self.canRoute(url)
    }
}
