public import WaybillRouting

extension RoutingError.Code {
    /// A performance is being performed or removed already.
    public static let overRoute = Self("overRoute")

    /// The state of a performance does not permit the operation: removing what was not performed, for example.
    public static let actionFailed = Self("actionFailed")
}
