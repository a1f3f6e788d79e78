internal import FoundationEssentials
internal import Waybill

/// The Foundation coders for the `Codable` types of the program.
enum JSONCoding {
    static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        #if Foundation
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            if let date = Date(urlParameter: text) { return date }
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "the text is not a date in ISO 8601"
            )
        }
        #else
        decoder.dateDecodingStrategy = .iso8601
        #endif
        return decoder
    }()

    static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        #if Foundation
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.urlParameter)
        }
        #else
        encoder.dateEncodingStrategy = .iso8601
        #endif
        return encoder
    }()
}
