public import WaybillRouting

extension RoutingConventions {
    /// Waybill's conventions, with transitions as words before a path: `app://push/user/detail`.
    ///
    /// For your own transitions, or to combine transitions with other conventions, set
    /// ``/WaybillRouting/RoutingConventions/leadingVerbs``.
    public static let navigation = {
        var conventions = Self()
        conventions.leadingVerbs = ["push", "present", "back", "root", "show", "embed", "remove"]
        return conventions
    }()
}
