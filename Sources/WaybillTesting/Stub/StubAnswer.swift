/// The answer of a stub to a message.
public struct StubAnswer: Sendable {
    enum Kind: Sendable {
        case value(any Sendable)
        case failure(any Error)
        case never
    }

    let kind: Kind

    /// Returns an answer that replies with a value.
    public static func value(_ value: some Sendable) -> Self { Self(kind: .value(value)) }

    /// Returns an answer that fails with an error.
    ///
    /// A `RoutingError` without a URL reaches the caller with its code. Any other error becomes the cause of
    /// a `handlerFailed` error.
    public static func failure(_ error: any Error) -> Self { Self(kind: .failure(error)) }

    /// No answer: the stub waits until the message is cancelled or its deadline passes.
    public static let never = Self(kind: .never)
}
