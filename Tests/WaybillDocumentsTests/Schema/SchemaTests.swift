import Foundation
import Testing
import Waybill

@testable import WaybillDocuments

/// The schemas of types, by their JSON.
struct SchemaTests {
    struct 値: Codable { let id: Int }

    @Test func `a type whose name has no letters of ASCII has a name in documents`() {
        var registry = SchemaRegistry()
        _ = registry.schema(of: 値.self)
        #expect(Array(registry.named.keys) == ["Type"])
    }

    struct Address: Codable {
        let street: String
        var postcode: Int16?
    }
    struct Person: Codable {
        let name: String
        let home: Address
        var others: [Address] = []
    }
    struct Node: Codable {
        let value: Int
        var children: [Node]
    }
    final class Link: Codable {
        var next: Link?
        var label = ""
    }
    enum Side: String, Codable, CaseIterable { case left, right }
    enum Level: Int, Codable, CaseIterable {
        case low = 1
        case high = 9
    }
    enum Hidden: String, Codable { case first, second }
    struct Boxed: Codable {
        let side: Hidden
        let after: Bool
    }
    enum Payload: Codable {
        case text(String)
        case number(Int)
    }
    struct WithPayload: Codable {
        let payload: Payload
        let after: Bool
    }
    enum Listed: Codable, CaseIterable { case first, second }
    struct WithListed: Codable {
        let listed: Listed
        let after: Bool
    }
    struct Page<Element: Codable>: Codable {
        let items: [Element]
        let next: Int?
    }
    struct Money: Codable {
        let cents: Int
        init(from decoder: any Decoder) throws {
            self.cents = try decoder.singleValueContainer().decode(Int.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self.cents)
        }
    }
    struct NotEmpty: Codable {
        let text: String
        enum CodingKeys: CodingKey { case text }
        init(from decoder: any Decoder) throws {
            self.text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .text)
            if self.text.isEmpty { throw CancellationError() }
        }
    }
    struct Picky: Decodable {
        let code: String
        enum CodingKeys: CodingKey { case code }
        init(from decoder: any Decoder) throws {
            self.code = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .code)
            if self.code != "open sesame" { throw CancellationError() }
        }
    }
    struct Stated: Codable, DocumentedValue {
        static let documentedSchema = #"{"type": "string", "maxLength": 3}"#
        let text: String
    }
    struct Nested: Decodable {
        let city: String
        enum Outer: CodingKey { case place }
        enum Inner: CodingKey { case city }
        init(from decoder: any Decoder) throws {
            let place = try decoder.container(keyedBy: Outer.self).nestedContainer(
                keyedBy: Inner.self,
                forKey: .place
            )
            self.city = try place.decode(String.self, forKey: .city)
        }
    }
    struct Opaque {}

    /// Values that are written as a number or as text.
    enum NumberOrText: Decodable {
        case number(Int)
        case text(String)
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }
    /// Values that are written as an object or as text.
    struct ObjectOrText: Decodable {
        let name: String
        enum CodingKeys: CodingKey { case name }
        init(from decoder: any Decoder) throws {
            if let object = try? decoder.container(keyedBy: CodingKeys.self) {
                self.name = try object.decode(String.self, forKey: .name)
            } else {
                self.name = try decoder.singleValueContainer().decode(String.self)
            }
        }
    }
    struct OneOrMany: Decodable {
        let tags: [String]
        let note: String
        enum CodingKeys: CodingKey { case tags, note }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.note = try container.decode(String.self, forKey: .note)
            if let tag = try? container.decode(String.self, forKey: .tags) {
                self.tags = [tag]
            } else {
                self.tags = try container.decode([String].self, forKey: .tags)
            }
        }
    }
    /// A value whose members depend on its tag.
    enum Tagged: Decodable {
        case created(Address)
        case moved(Link)
        case deleted
        enum Tag: String, Codable, CaseIterable { case created, deleted, moved, undone }
        enum CodingKeys: CodingKey { case tag, address, link }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            switch try container.decode(Tag.self, forKey: .tag) {
            case .created: self = .created(try container.decode(Address.self, forKey: .address))
            case .moved: self = .moved(try container.decode(Link.self, forKey: .link))
            case .deleted: self = .deleted
            case .undone: throw CancellationError()
            }
        }
    }
    /// A value that only one of the cases of its tag describes.
    struct OnlyCreated: Decodable {
        let id: Int
        enum CodingKeys: CodingKey { case tag, id }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard try container.decode(Tagged.Tag.self, forKey: .tag) == .created else {
                throw CancellationError()
            }
            self.id = try container.decode(Int.self, forKey: .id)
        }
    }
    struct Price: RawRepresentable, Codable { let rawValue: String }
    /// A value with a member that another type decodes.
    struct Priced: Decodable {
        let count: Int
        let price: Price
        enum CodingKeys: CodingKey { case count, price }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.count = try container.decode(Int.self, forKey: .count)
            self.price = try Price(from: container.superDecoder(forKey: .price))
        }
    }
    /// An object with a member whose name an inner object repeats.
    struct Repeating: Decodable {
        let name: String
        let innerName: String
        enum CodingKeys: CodingKey { case inner, name }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.innerName = try container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
                .decode(String.self, forKey: .name)
            self.name = try container.decode(String.self, forKey: .name)
        }
    }

    @Test func `the keys of a dictionary with numbers as keys must be numbers`() {
        var registry = SchemaRegistry()
        #expect(registry.schema(of: [Int: String].self).json.contains("propertyNames"))
        #expect(!registry.schema(of: [String: Int].self).json.contains("propertyNames"))
    }

    private func schemas(of type: any Any.Type) -> (String, [String: String]) {
        var registry = SchemaRegistry()
        let schema = registry.schema(of: type)
        return (schema.json, registry.named.mapValues(\.json))
    }

    /// A type and its schema.
    ///
    /// A test argument cannot be a type itself.
    struct Plain: Sendable {
        let type: any Any.Type
        let json: String

        init(_ type: any Any.Type, _ json: String) {
            self.type = type
            self.json = json
        }
    }

    private static let plain: [Plain] = [
        Plain(Void.self, #"{"type":"null"}"#),
        Plain(Bool.self, #"{"type":"boolean"}"#),
        Plain(Int8.self, #"{"maximum":127,"minimum":-128,"type":"integer"}"#),
        Plain(
            UInt64.self,
            #"{"maximum":18446744073709551615,"minimum":0,"type":"integer"}"#
        ),
        Plain(Double?.self, #"{"format":"double","type":["number","null"]}"#),
        Plain([String].self, #"{"items":{"type":"string"},"type":"array"}"#),
        Plain([String: Bool].self, #"{"additionalProperties":{"type":"boolean"},"type":"object"}"#),
        Plain(Date.self, #"{"format":"date-time","type":"string"}"#),
        Plain(UUID.self, #"{"format":"uuid","type":"string"}"#),
        Plain(Data.self, #"{"contentEncoding":"base64","type":"string"}"#),
        Plain(
            Money.self,
            #"{"format":"int64","maximum":9223372036854775807,"minimum":-9223372036854775808,"type":"integer"}"#
        ),
        Plain(Opaque.self, #"{"description":"Opaque: not Decodable","x-waybill-opaque":"Opaque"}"#),
    ]

    @Test(arguments: plain)
    func `a plain type has a schema without references`(plain: Plain) {
        let (schema, named) = self.schemas(of: plain.type)
        #expect(schema == plain.json)
        #expect(named.isEmpty)
    }

    @Test func `a structure is an object schema, and its structures are defined once`() {
        let (schema, named) = self.schemas(of: [Person].self)
        #expect(schema == ##"{"items":{"$ref":"#/components/schemas/Person"},"type":"array"}"##)
        #expect(
            named["Person"] == ##"""
                {"properties":{"home":{"$ref":"#/components/schemas/Address"},"name":{"type":"string"},\##
                "others":{"items":{"$ref":"#/components/schemas/Address"},"type":"array"}},\##
                "required":["home","name","others"],"type":"object"}
                """##
        )
        #expect(named["Address"]?.contains(#""required":["street"]"#) == true)
        #expect(named["Address"]?.contains(#""type":["integer","null"]"#) == true)
        #expect(named.count == 2)
    }

    @Test func `a recursive type refers to its own schema`() {
        let (schema, named) = self.schemas(of: Node.self)
        #expect(schema == ##"{"$ref":"#/components/schemas/Node"}"##)
        #expect(
            named["Node"]?.contains(##""children":{"items":{"$ref":"#/components/schemas/Node"}"##) == true
        )
        #expect(
            self.schemas(of: Link.self).1["Link"]?.contains(##"{"$ref":"#/components/schemas/Link"}"##)
                == true
        )
    }

    @Test func `an enumeration that lists its cases has their values in its schema`() {
        #expect(self.schemas(of: Side.self).1["Side"] == #"{"enum":["left","right"],"type":"string"}"#)
        #expect(self.schemas(of: Level.self).1["Level"] == #"{"enum":[1,9],"type":"integer"}"#)
    }

    @Test func `an enumeration that does not list its cases is opaque, and later properties are unknown`() {
        let named = self.schemas(of: Boxed.self).1
        #expect(named["Hidden"]?.contains(#""x-waybill-opaque":"Hidden""#) == true)
        #expect(named["Boxed"]?.contains(#""required":["side"]"#) == true)
        #expect(named["Boxed"]?.contains("cannot create a Hidden: make Hidden CaseIterable") == true)
    }

    @Test func `an enumeration whose cases have values is opaque, and later properties are unknown`() {
        let named = self.schemas(of: WithPayload.self).1
        #expect(named["Payload"]?.contains(#""x-waybill-opaque":"Payload""#) == true)
        #expect(named["WithPayload"]?.contains(#""required":["payload"]"#) == true)
    }

    @Test func `an enumeration without raw values that lists its cases does not hide later properties`() {
        let named = self.schemas(of: WithListed.self).1
        #expect(named["WithListed"]?.contains(#""required":["after","listed"]"#) == true)
        #expect(named["WithListed"]?.contains("opaque") == false)
    }

    @Test func `a generic type has a schema for each of its arguments`() {
        var registry = SchemaRegistry()
        _ = registry.schema(of: Page<Int>.self)
        _ = registry.schema(of: Page<Side>.self)
        #expect(registry.named.keys.sorted() == ["Page_Int", "Page_Side", "Side"])
    }

    @Test func `two types of the same name have two schemas`() {
        enum Other { struct Address: Codable { let ip: String } }
        var registry = SchemaRegistry()
        _ = registry.schema(of: Address.self)
        _ = registry.schema(of: Other.Address.self)
        #expect(registry.named.keys.sorted() == ["Address", "Address_2"])
    }

    @Test func `a type that rejects the probe is opaque, with the properties read so far`() {
        #expect(self.schemas(of: NotEmpty.self).1["NotEmpty"]?.contains("opaque") == false)
        let picky = self.schemas(of: Picky.self).1["Picky"] ?? ""
        #expect(picky.contains(#""x-waybill-opaque":"Picky""#))
        #expect(picky.contains(#""code":{"type":"string"}"#))
    }

    @Test(arguments: ["NumberOrText", "ObjectOrText", "Tagged"])
    func `a type that reads other things for other values is opaque`(name: String) {
        let types: [String: any Any.Type] = [
            "NumberOrText": NumberOrText.self, "ObjectOrText": ObjectOrText.self, "Tagged": Tagged.self,
        ]
        let named = self.schemas(of: types[name] ?? Void.self).1
        // A document omits the types that occur only in some of the values.
        #expect(Array(named.keys) == [name])
        #expect(named[name]?.contains(#""x-waybill-opaque":"\#(name)""#) == true)
        #expect(named[name]?.contains(#""type""#) == false)
    }

    @Test func `a member that is decoded as several types is opaque, and the other members are known`() {
        #expect(
            self.schemas(of: OneOrMany.self).1["OneOrMany"]
                == ##"{"properties":{"note":{"type":"string"},"tags":{"description":"`tags`: its init(from:) tries one type after another","x-waybill-opaque":"`tags`"}},"required":["note","tags"],"type":"object"}"##
        )
    }

    @Test func `a type that rejects some values of its members is known`() {
        let named = self.schemas(of: OnlyCreated.self).1
        #expect(named["OnlyCreated"]?.contains("opaque") == false)
        #expect(named["OnlyCreated"]?.contains(#""required":["id","tag"]"#) == true)
    }

    @Test func `a member that another type decodes is a part of the schema`() {
        #expect(
            self.schemas(of: Priced.self).1["Priced"]?.contains(
                #""price":{"type":"string"}},"required":["count","price"],"type":"object"}"#
            ) == true
        )
    }

    @Test func `members of the same name in different objects are not confused`() {
        #expect(self.schemas(of: Repeating.self).1["Repeating"]?.contains("opaque") == false)
    }

    @Test func `a schema includes objects inside of objects`() {
        #expect(
            self.schemas(of: Nested.self).1["Nested"]
                == #"{"properties":{"place":{"properties":{"city":{"type":"string"}},"required":["city"],"type":"object"}},"required":["place"],"type":"object"}"#
        )
    }

    @Test func `a type can state its own schema`() {
        #expect(self.schemas(of: Stated.self).1 == ["Stated": #"{"maxLength":3,"type":"string"}"#])
        #expect(ValueSchema(stated: "[1]", of: "Stated").isOpaque)
    }
}
