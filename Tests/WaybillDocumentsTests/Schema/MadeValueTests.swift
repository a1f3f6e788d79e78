import Testing
import WaybillDocuments
import WaybillTestSupport

@testable import WaybillDocuments

/// Types of one byte, and types that check the values that they decode.
///
/// No other code may create their values.
struct MadeValueTests {
    /// Ends the process, because a value was created that its type has not created.
    struct Guarded: RawRepresentable, Codable, Sendable {
        let rawValue: UInt8

        init?(rawValue: UInt8) {
            guard rawValue > 1 else { return nil }
            self.rawValue = rawValue
        }

        var half: UInt8 {
            precondition(self.rawValue > 1, "a value that the type refuses")
            return self.rawValue / 2
        }
    }
    struct AroundGuarded: Decodable {
        let half: UInt8

        enum CodingKeys: CodingKey { case guarded }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.half = try container.decode(Guarded.self, forKey: .guarded).half
        }
    }
    struct Empty: Codable {
        let byte: UInt8
        let never: Never
    }
    struct RawEmpty: RawRepresentable, Codable {
        let rawValue: UInt8
        let never: Never

        init?(rawValue: UInt8) { nil }
    }
    struct AroundEmpty: Codable {
        let empty: RawEmpty
        let after: Bool
    }
    struct FirstOfArray: Decodable {
        let first: Int

        init(from decoder: any Decoder) throws {
            let decoded = try decoder.singleValueContainer().decode([Int].self)
            self.first = decoded[0]
        }
    }
    struct FirstOfText: Decodable {
        let first: Character

        enum CodingKeys: CodingKey { case text }

        init(from decoder: any Decoder) throws {
            let text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .text)
            self.first = text[text.startIndex]
        }
    }
    struct Divided: Decodable {
        let quotient: Int

        init(from decoder: any Decoder) throws {
            self.quotient = 100 / (try decoder.singleValueContainer().decode(Int.self))
        }
    }
    /// A C enumeration as Swift imports it.
    struct Imported: RawRepresentable, Codable {
        let rawValue: UInt32
    }
    struct AroundImported: Codable {
        let imported: Imported
        let after: Bool
    }
    struct Stated: Decodable, DocumentedValue {
        static let documentedSchema = #"{"type": "integer"}"#

        init(from decoder: any Decoder) throws { preconditionFailure("it states its schema") }
    }

    private func schema(of type: any Any.Type) -> String {
        var registry = SchemaRegistry()
        let schema = registry.schema(of: type)
        return schema.referenced.flatMap { registry.named[$0] }?.json ?? schema.json
    }

    @Test func `a type that rejects the probe's byte is opaque, and later properties are unknown`() {
        #expect(self.schema(of: Guarded.self).contains(#""x-waybill-opaque":"Guarded""#))
        let around = self.schema(of: AroundGuarded.self)
        #expect(around.contains(#""required":["guarded"]"#) && around.contains("cannot create a Guarded"))
    }

    @Test func `a type without values is opaque`() {
        #expect(self.schema(of: Empty.self).contains("cannot create a Never"))
        #expect(self.schema(of: RawEmpty.self).contains(#""x-waybill-opaque":"RawEmpty""#))
        #expect(self.schema(of: AroundEmpty.self).contains(#""required":["empty"]"#))
    }

    @Test func `a type that reads its first element, its first character or a divisor has a schema`() {
        #expect(self.schema(of: FirstOfArray.self).contains(#""type":"array""#))
        #expect(self.schema(of: FirstOfText.self).contains(#""required":["text"]"#))
        #expect(self.schema(of: Divided.self).contains(#""type":"integer""#))
    }

    @Test func `an imported enumeration does not hide later properties`() {
        #expect(self.schema(of: AroundImported.self).contains(#""required":["after","imported"]"#))
    }

    @Test func `a type that states its schema is not decoded`() {
        #expect(self.schema(of: Stated.self) == #"{"type":"integer"}"#)
        let list = self.schema(of: Optional<[Stated]>.self)
        #expect(list.contains("Stated"))
    }
}
