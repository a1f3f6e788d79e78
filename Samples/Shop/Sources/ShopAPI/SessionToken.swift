/// The token of a signed-in customer: the parameter `session` of a URL.
public struct SessionToken: Hashable, Sendable {
    /// The token as text of a URL.
    public let description: String

    /// Creates a token that cannot be guessed.
    public static func random() -> Self {
        Self(String(UInt64.random(in: .min ... .max), radix: 36))
    }
}

extension SessionToken: LosslessStringConvertible {
    /// Creates a token from the text of a URL, so that `parameters.require("session")` can return a token.
    public init(_ description: String) { self.description = description }
}

extension SessionToken: Codable {
    /// Reads the text of the token.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text of the token.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.description)
    }
}
