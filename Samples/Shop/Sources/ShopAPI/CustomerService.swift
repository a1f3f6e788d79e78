public import Waybill

/// Finds the customer of a session.
///
/// Modules call this service by its protocol, and not by a URL.
@Service("app://customers")
public protocol CustomerService: Sendable {
    /// Returns the customer of a session.
    ///
    /// - Throws: `ShopError.notSignedIn`.
    nonisolated(nonsending) func customer(session: SessionToken?) async throws -> User
}
