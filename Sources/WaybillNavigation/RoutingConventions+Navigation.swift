public import WaybillRouting

extension RoutingConventions {
    /// Waybill's conventions, extended by transitions: words such as `push` before a path, as in
    /// `app://push/user/detail`.
    ///
    /// For your own transitions, or to combine transitions with other conventions, set
    /// ``/WaybillRouting/RoutingConventions/leadingVerbs``.
    public static let navigation = {
        var conventions = Self()
        conventions.leadingVerbs = ["push", "present", "back", "root", "show", "embed", "remove"]
        return conventions
    }()
}
