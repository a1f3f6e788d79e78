#if Macros && Foundation

import FoundationEssentials
import Waybill

enum Size: String, Sendable { case small, large }

enum Level: Int, Sendable {
    case low = 1
    case high
}

struct Filter: Codable, Sendable, Equatable {
    var words: [String]
}

/// An actor that is passed as a parameter.
actor Witness {
    private(set) var seen: [String] = []
    func see(_ text: String) { self.seen.append(text) }
}

/// A module with a route for each kind of type.
@Module("app://types")
actor Warehouse {
    @Route func int(v: Int) -> Int { v }
    @Route func byte(v: UInt8) -> UInt8 { v }
    @Route func double(v: Double) -> Double { v }
    @Route func float(v: Float) -> Float { v }
    @Route func bool(v: Bool) -> Bool { v }
    @Route func string(v: String) -> String { v }
    @Route func url(v: URL) -> URL { v }
    @Route func date(v: Date) -> Date { v }
    @Route func uuid(v: UUID) -> UUID { v }
    @Route func size(v: Size) -> Size { v }
    @Route func level(v: Level) -> Level { v }
    @Route func filter(v: Filter) -> Filter { v }
    @Route func witness(v: Witness) async -> [String] {
        await v.see("here")
        return await v.seen
    }

    @Route func ints(v: [Int]) -> [Int] { v }
    @Route func dates(v: [Date]) -> [Date] { v }
    @Route func sizes(v: [Size]) -> [Size] { v }
    @Route func filters(v: [Filter]) -> [Filter] { v }

    @Route func intOrNil(v: Int?) -> Int? { v }
    @Route func dateOrNil(v: Date? = nil) -> Date? { v }
    @Route func sizeOrNil(v: Size?) -> Size? { v }
    @Route func filterOrNil(v: Filter?) -> Filter? { v }
    @Route func intsOrNil(v: [Int]?) -> [Int]? { v }
    @Route func sizesOrNil(v: [Size]?) -> [Size]? { v }
    @Route func witnessOrNil(v: Witness?) -> Bool { v != nil }

    static let standard = Filter(words: ["standard"])

    @Route func intOr(v: Int = 7) -> Int { v }
    @Route func dateOr(v: Date = Date(timeIntervalSinceReferenceDate: 0)) -> Date { v }
    @Route func uuidOr(v: UUID = .init()) -> UUID { v }
    @Route func sizeOr(v: Size = .small) -> Size { v }
    @Route func filterOr(v: Filter = Warehouse.standard) -> Filter { v }
    @Route func intsOr(v: [Int] = [1, 2]) -> [Int] { v }
    @Route func sizesOr(v: [Size] = [.small, .large]) -> [Size] { v }
    @Route func optionalIntOr(v: Int? = 7) -> Int? { v }
    @Route func optionalSizeOr(v: Size? = .large) -> Size? { v }
    @Route func sumOr(v: Int = 1 + 2) -> Int { v }
    @Route func choiceOr(v: String = true ? "yes" : "no") -> String { v }
    @Route func calledOr(v: Int = { 4 }()) -> Int { v }
    @Route func closureOr(v: @escaping @Sendable (Int) -> Int = { $0 * 2 }) -> Int { v(21) }
    @Route func anyOr(v: any Sendable & CustomStringConvertible = 5) -> String { v.description }
    @Route func closureOrNil(v: (@Sendable (Int) -> Int)?) -> Int { v?(21) ?? -1 }

    @Route func pay(
        total: Int,
        paySuccess: @escaping @Sendable (String) -> String,
        payCancel: @escaping @Sendable () async throws -> Void
    ) async throws -> String {
        guard total > 0 else {
            try await payCancel()
            return "cancelled"
        }
        return paySuccess("paid \(total)")
    }

    @Route func now(v: @Sendable (Int) -> Int) -> Int { v(1) }

    @Route("/path/:x/**rest") func message(x: Int, _ message: Message) throws -> String {
        "\(x) \(try message.parameters.require("rest", as: String.self)) \(message.parameters["q"] ?? "-")"
    }
}

#endif
