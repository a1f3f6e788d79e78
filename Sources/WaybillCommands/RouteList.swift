#if Tool

internal import FoundationEssentials
public import Waybill

/// The routes of a program, for printing.
public struct RouteList: Sendable {
    let routes: [RouteDescription]

    /// Creates a list in the order of the patterns.
    public init(_ routes: [RouteDescription]) {
        self.routes = routes.sorted { $0.pattern < $1.pattern }
    }

    /// Returns the list as text.
    ///
    /// - Throws: An error if the JSON encoder fails.
    public func text(as format: RouteListFormat) throws -> String {
        switch format {
        case .table: self.table
        case .json: try self.json
        case .markdown: self.markdown
        }
    }

    private var table: String {
        let rows = self.routes.map { route in
            [
                route.pattern.onOneLine, route.signature.onOneLine, route.reply,
                [route.module, route.action].compactMap(\.self).joined(separator: "."),
            ]
        }
        let all = [["PATTERN", "PARAMETERS", "REPLY", "HANDLED BY"]] + rows
        return AlignedRows.lines(all).joined(separator: "\n")
    }

    private var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self.routes.map(RouteRecord.init)), as: UTF8.self)
        }
    }
}

extension RouteDescription {
    /// The parameters as a function would declare them.
    var signature: String {
        self.parameters.map { parameter in
            "\(parameter.name): \(parameter.type)" + (parameter.defaultValue.map { " = \($0)" } ?? "")
        }.joined(separator: ", ")
    }
}

#endif
