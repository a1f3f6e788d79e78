public import Waybill
internal import WaybillRouting

extension MessageBus {
    /// Whether a URL can be opened, as YFRouter says it: `canRoute(_:)` for a URL that names its scheme.
    ///
    /// A text without a scheme may be routed by the default scheme, and is no URL that another program could
    /// open.
    public func canOpenURL(_ url: String) -> Bool {
        (try? Address(url))?.hasScheme == true && self.canRoute(url)
    }
}
