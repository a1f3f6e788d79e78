/// Computes the price and the duration of a delivery.
///
/// The actor does not import the bus and knows no URL. The program connects it to the bus. In the same way a
/// program can connect older code, or code that other programs use as well, without changing it.
package actor Carrier {
    /// The price and the duration of a delivery to each country.
    private struct Zone {
        let cents: Int
        let centsPerKilogram: Int
        let days: Int
    }

    private let zones = [
        "NO": Zone(cents: 590, centsPerKilogram: 120, days: 2),
        "DE": Zone(cents: 890, centsPerKilogram: 210, days: 4),
        "JP": Zone(cents: 2490, centsPerKilogram: 980, days: 9),
    ]

    package init() {}

    /// Returns the price and the duration of a delivery.
    ///
    /// - Throws: ``CarrierError`` for a country or a weight that the carrier does not serve.
    package func quote(to country: String, grams: Int) throws(CarrierError) -> Quote {
        guard let zone = self.zones[country.uppercased()] else {
            throw .unknownCountry(country, known: self.zones.keys.sorted())
        }
        guard (1...30_000).contains(grams) else { throw .badWeight(grams) }
        let kilograms = (grams + 999) / 1000
        return Quote(cents: zone.cents + kilograms * zone.centsPerKilogram, days: zone.days)
    }
}

/// An offer of a carrier.
package struct Quote: Codable, Hashable, Sendable {
    /// The price in cents.
    package let cents: Int
    /// The duration in days.
    package let days: Int

    /// Creates an offer.
    package init(cents: Int, days: Int) {
        self.cents = cents
        self.days = days
    }
}

extension Quote: CustomStringConvertible {
    /// The quote as text: `8.30, 2 days`.
    package var description: String {
        let rest = self.cents % 100
        return "\(self.cents / 100).\(rest < 10 ? "0" : "")\(rest), \(self.days) days"
    }
}

/// The reason why a carrier does not take a parcel.
package enum CarrierError: Error, Hashable {
    /// The carrier does not deliver to the country.
    case unknownCountry(String, known: [String])
    /// The weight is not positive, or is more than a person can lift.
    case badWeight(Int)
}

extension CarrierError: CustomStringConvertible {
    /// A sentence with the problem and the remedy.
    package var description: String {
        switch self {
        case .unknownCountry(let country, let known):
            "the carrier does not deliver to \(country); it delivers to \(known.joined(separator: ", "))"
        case .badWeight(let grams): "a parcel cannot weigh \(grams) g; use 1 to 30,000"
        }
    }
}
