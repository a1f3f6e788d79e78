public import Waybill
internal import WaybillRouting

extension MessageBus {
    /// Whether a URL can be opened, as YFRouter says it: `canRoute(_:)` for a URL that names its scheme, in
    /// the lower case in which URLs are compared (RFC 3986, 6.2.2.1).
    ///
    /// A text without a scheme may be routed by the default scheme, and is no URL that another program could
    /// open. One whose scheme is in another case is routed as well, and is not found by YFRouter's
    /// `canOpenURL`, which compares it as it stands.
    public func canOpenURL(_ url: String) -> Bool {
        guard let address = try? Address(url), address.hasScheme, url.hasPrefix("\(address.scheme):") else {
            return false
        }
        return self.canRoute(url)
    }
}
