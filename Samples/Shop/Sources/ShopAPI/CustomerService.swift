public import Waybill

/// The service with which modules find a customer by the session, through a protocol and not through a URL.
@Service("app://customers")
public protocol CustomerService: Sendable {
    /// The customer whose session it is.
    ///
    /// - Throws: `ShopError.notSignedIn`.
    nonisolated(nonsending) func customer(session: SessionToken?) async throws -> User
}
