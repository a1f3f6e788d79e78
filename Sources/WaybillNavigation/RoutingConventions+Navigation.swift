public import WaybillRouting

extension RoutingConventions {
    /// Waybill's conventions, with the kinds of transition as words before a path: `app://push/user/detail`.
    ///
    /// For kinds of your own, or together with other conventions, set ``leadingVerbs``.
    public static let navigation = {
        var conventions = Self()
        conventions.leadingVerbs = ["push", "present", "back", "root", "show", "embed", "remove"]
        return conventions
    }()
}
