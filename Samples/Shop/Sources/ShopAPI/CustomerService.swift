public import Waybill

/// What the accounts know, for modules that ask who asks them: by this protocol, and not by a URL.
@Service("app://customers")
public protocol CustomerService: Sendable {
    /// The customer whose session it is.
    ///
    /// - Throws: `ShopError.notSignedIn`.
    nonisolated(nonsending) func customer(session: SessionToken?) async throws -> User
}
