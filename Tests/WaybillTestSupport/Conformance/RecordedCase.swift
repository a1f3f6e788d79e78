/// One recorded case: the input of a router and its behaviour, as columns.
package struct RecordedCase: Decodable, Sendable {
    package let id: String
    /// All columns of the case.
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

    /// The parameters that the caller passed separately from the URL.
    package var parameters: [String: any Sendable] {
        self["params"]?.object.compactMapValues(\.passed) ?? [:]
    }
}
