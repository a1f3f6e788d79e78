/// One recorded case: what a router was told, and what it did, column by column.
package struct RecordedCase: Decodable, Sendable {
    package let id: String
    /// All that the case says.
    package let fields: [String: JSON]

    package init(from decoder: any Decoder) throws {
        self.fields = try JSON(from: decoder).object
        guard let id = self.fields["id"]?.string else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "a case without an ID"))
        }
        self.id = id
    }

    package subscript(field: String) -> JSON? { self.fields[field] }

    package var url: String { self["url"]?.string ?? "" }
    package var config: [String: JSON] { self["config"]?.object ?? [:] }
    package var expect: [String: JSON] { self["expect"]?.object ?? [:] }

    /// What the caller passed beside the URL.
    package var parameters: [String: any Sendable] {
        self["params"]?.object.compactMapValues(\.passed) ?? [:]
    }
}
