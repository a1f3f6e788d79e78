internal import WaybillRouting

/// How far a request got without suspending.
enum Attempt {
    /// Its handler has returned, and the message is closed.
    case called(CorrelationID)
    /// Its handler has thrown, and the message is closed.
    case failed(RoutingError, CorrelationID)
    /// No route matches.
    case lost(RoutingError, CorrelationID)
    /// The handler is on another loop, or may suspend.
    indirect case handOver(Found, CorrelationID)
    /// It is not counted yet: there are middlewares around its handler, which may suspend.
    case surrounded
    /// The caller is on no loop of the bus, or has to let the loop poll first.
    case elsewhere
}
