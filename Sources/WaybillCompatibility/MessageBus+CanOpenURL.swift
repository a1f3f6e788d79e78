public import Waybill
internal import WaybillRouting

extension MessageBus {
    /// Returns whether a URL can be opened, as YFRouter's `canOpenURL` does.
    ///
    /// This is `canRoute(_:)` for a URL that names its scheme in lower case (RFC 3986, 6.2.2.1). The bus may
    /// route a text without a scheme by its default scheme, but another program could not open that text. The
    /// bus also routes a URL whose scheme is in another case, but YFRouter's `canOpenURL` does not find it,
    /// because it compares the scheme exactly.
    public func canOpenURL(_ url: String) -> Bool {
        guard let address = try? Address(url), address.hasScheme, url.hasPrefix("\(address.scheme):") else {
            return false
        }
        return self.canRoute(url)
    }
}
