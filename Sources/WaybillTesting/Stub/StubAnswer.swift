/// The answer of a stub to a message.
public struct StubAnswer: Sendable {
    enum Kind: Sendable {
        case value(any Sendable)
        case failure(any Error)
        case never
    }

    let kind: Kind

    /// Answers with a value.
    public static func value(_ value: some Sendable) -> Self { Self(kind: .value(value)) }

    /// Fails with an error; a `RoutingError` about no URL reaches the caller with its code, any other error
    /// as the cause of a `handlerFailed`.
    public static func failure(_ error: any Error) -> Self { Self(kind: .failure(error)) }

    /// Does not answer, until the message is cancelled or its deadline has passed.
    public static let never = Self(kind: .never)
}
