#if Macros && Foundation

import FoundationEssentials
import Waybill

/// A type with its own conversion from text.
struct Tag: URLParameter, Equatable {
    let text: String
    init(_ text: String) { self.text = text }
    init?(urlParameter: String) {
        guard urlParameter.hasPrefix("#") else { return nil }
        self.text = String(urlParameter.dropFirst())
    }
    var urlParameter: String { "#\(self.text)" }
}

enum Suit: String, CaseIterable { case clubs, hearts }

enum Rank: Int, CaseIterable {
    case low = 1
    case high
}

/// A module with a route for each kind of type. The reply describes the received value, including each level
/// of an Optional.
@Module("app://kinds")
actor Kinds {
    private func shown(_ value: some Any) -> String { String(reflecting: value) }

    @Route func int(v: Int) -> String { self.shown(v) }
    @Route func byte(v: UInt8) -> String { self.shown(v) }
    @Route func double(v: Double) -> String { self.shown(v) }
    @Route func bool(v: Bool) -> String { self.shown(v) }
    @Route func string(v: String) -> String { self.shown(v) }
    @Route func suit(v: Suit) -> String { self.shown(v) }
    @Route func rank(v: Rank) -> String { self.shown(v) }
    @Route func tag(v: Tag) -> String { self.shown(v) }
    @Route func date(v: Date) -> String { self.shown(v.timeIntervalSinceReferenceDate) }
    @Route func uuid(v: UUID) -> String { self.shown(v) }
    @Route func filter(v: Filter) -> String { self.shown(v) }
    @Route func counts(v: [String: Int]) -> String { self.shown(v) }
    @Route func anything(v: any Sendable) -> String { self.shown(v) }

    @Route func intOrNil(v: Int?) -> String { self.shown(v) }
    @Route func stringOrNil(v: String?) -> String { self.shown(v) }
    @Route func boolOrNil(v: Bool?) -> String { self.shown(v) }
    @Route func suitOrNil(v: Suit?) -> String { self.shown(v) }
    @Route func tagOrNil(v: Tag?) -> String { self.shown(v) }
    @Route func filterOrNil(v: Filter?) -> String { self.shown(v) }
    @Route func anythingOrNil(v: (any Sendable)?) -> String { self.shown(v) }

    @Route func ints(v: [Int]) -> String { self.shown(v) }
    @Route func strings(v: [String]) -> String { self.shown(v) }
    @Route func suits(v: [Suit]) -> String { self.shown(v) }
    @Route func tags(v: [Tag]) -> String { self.shown(v) }
    @Route func filters(v: [Filter]) -> String { self.shown(v) }
    @Route func matrix(v: [[Int]]) -> String { self.shown(v) }

    @Route func intsAndNils(v: [Int?]) -> String { self.shown(v) }
    @Route func stringsAndNils(v: [String?]) -> String { self.shown(v) }
    @Route func suitsAndNils(v: [Suit?]) -> String { self.shown(v) }
    @Route func filtersAndNils(v: [Filter?]) -> String { self.shown(v) }

    @Route func intsOrNil(v: [Int]? = nil) -> String { self.shown(v) }
    @Route func stringsOrNil(v: [String]?) -> String { self.shown(v) }
    @Route func suitsOrNil(v: [Suit]?) -> String { self.shown(v) }
    @Route func filtersOrNil(v: [Filter]?) -> String { self.shown(v) }

    @Route func intOrNilOrNil(v: Int??) -> String { self.shown(v) }
    @Route func suitOrNilOrNil(v: Suit??) -> String { self.shown(v) }
    @Route func filterOrNilOrNil(v: Filter??) -> String { self.shown(v) }
    @Route func intsOrNilOrNil(v: [Int]??) -> String { self.shown(v) }

    @Route func intOrSeven(v: Int? = 7) -> String { self.shown(v) }
    @Route func intsOrOne(v: [Int] = [1]) -> String { self.shown(v) }
    @Route func intsOrNilOrOne(v: [Int]? = [1]) -> String { self.shown(v) }
    @Route func filterOrAny(v: Filter? = Filter(words: ["any"])) -> String { self.shown(v) }
}

#endif
