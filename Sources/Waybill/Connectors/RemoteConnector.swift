public import WaybillRouting

/// A connector to the bus of another process, which can report the fingerprint of that bus's routes.
///
/// A client that the command `waybill client` has generated accepts any connector. If the connector conforms
/// to this protocol, the client can detect that the routes of the server have changed.
public protocol RemoteConnector: Connector {
    /// Returns a text that differs when the routes that the server exposes differ.
    ///
    /// - Throws: `unreachable` if the server cannot be reached, or `noRoute` if the server's version of
    ///   Waybill is too old to have fingerprints.
    func fingerprint() async throws(RoutingError) -> String
}
