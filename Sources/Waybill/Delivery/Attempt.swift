internal import WaybillRouting

/// How far a request gets without suspending.
enum Attempt {
    case replied(CorrelationID, any Sendable)
    case failed(RoutingError, CorrelationID)
    /// The handler is on another loop, or may suspend.
    indirect case handOver(Found, CorrelationID)
    /// No route matches.
    case lost(RoutingError, CorrelationID)
    /// The caller is on no loop of the bus, or has to let the loop poll first.
    case elsewhere
}
