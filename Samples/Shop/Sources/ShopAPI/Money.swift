/// An amount in cents: adding prices never loses one, as it would with a `Double`.
public struct Money: Hashable, Sendable {
    /// The whole amount in the smallest unit.
    public var cents: Int

    /// Makes an amount from cents.
    public init(cents: Int) { self.cents = cents }

    /// Nothing to pay.
    public static let zero = Self(cents: 0)

    /// Both amounts together.
    public static func + (left: Self, right: Self) -> Self { Self(cents: left.cents + right.cents) }

    /// An amount several times.
    public static func * (amount: Self, times: Int) -> Self { Self(cents: amount.cents * times) }
}

extension Money: CustomStringConvertible {
    /// As a price tag shows it: `54.90`.
    public var description: String {
        let rest = self.cents % 100
        return "\(self.cents / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}

extension Money: Codable {
    /// Reads the number of cents.
    public init(from decoder: any Decoder) throws {
        self.init(cents: try decoder.singleValueContainer().decode(Int.self))
    }

    /// Writes the number of cents.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.cents)
    }
}
