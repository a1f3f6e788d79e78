/// An amount in cents.
///
/// Unlike a `Double`, sums are exact.
public struct Money: Hashable, Sendable {
    /// The whole amount in the smallest unit.
    public var cents: Int

    /// Creates an amount from cents.
    public init(cents: Int) { self.cents = cents }

    /// An amount of zero.
    public static let zero = Self(cents: 0)

    /// Returns the sum of two amounts.
    public static func + (left: Self, right: Self) -> Self { Self(cents: left.cents + right.cents) }

    /// Returns an amount multiplied by a number.
    public static func * (amount: Self, times: Int) -> Self { Self(cents: amount.cents * times) }
}

extension Money: CustomStringConvertible {
    /// The amount as on a price tag: `54.90`.
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
