#if Tool

package import ArgumentParser
internal import FoundationEssentials
package import WaybillDocuments

/// The options with which a user requests a document instead of a list of routes.
package struct DocumentOptions: ParsableArguments {
    /// The kinds of documents.
    ///
    /// Each kind has a flag.
    package enum Kind: String, EnumerableFlag {
        case document, asyncapi, openapi, markdown

        package static func name(for value: Self) -> NameSpecification { .customLong(value.rawValue) }

        package static func help(for value: Self) -> ArgumentHelp? {
            switch value {
            case .document: "Print the routes with their schemas as JSON, for `waybill diff`."
            case .asyncapi: "Print an AsyncAPI 3.0 document of the routes."
            case .openapi: "Print an OpenAPI document of the routes, as an HTTP gateway serves them."
            case .markdown: "Print the routes and their schemas as Markdown."
            }
        }
    }

    @Flag var kind: Kind?

    @Option(
        help: ArgumentHelp("Write index.html, a page that can be searched, to a folder.", valueName: "folder")
    )
    package var site: String?

    @Option(
        name: .customLong("openapi-version"),
        help: "With --openapi: the version, 3.1 or 3.2. Version 3.2 also describes event streams."
    )
    var openAPIVersion = "3.1"

    @Option(help: "With --openapi: the path at which the HTTP gateway is mounted.")
    var gatewayPath = "/bus"

    @Option(help: "The name of the program, for the document.")
    var title: String?

    @Option(help: "The version of the program, for the document.")
    var programVersion = "1.0.0"

    package init() {}

    package mutating func validate() throws {
        guard ["3.1", "3.2"].contains(self.openAPIVersion) else {
            throw ValidationError("--openapi-version must be 3.1 or 3.2.")
        }
        if self.kind != nil, self.site != nil {
            throw ValidationError("Pass either --site or one kind of document, not both.")
        }
    }

    /// Whether the user requests a document.
    package var isAsked: Bool { self.kind != nil || self.site != nil }

    /// Returns the title that the user passed; if the user passed none, returns `name`.
    package func title(or name: String) -> String { self.title ?? name }

    /// The version of the program for the document.
    package var version: String { self.programVersion }

    /// Writes a document in the format that the options contain, to a folder or with a closure.
    ///
    /// - Parameters:
    ///   - document: The document.
    ///   - print: A closure that prints a text.
    /// - Throws: An error if the folder of a site cannot be written, and the errors of `print`.
    package func write(_ document: BusDocument, _ print: (String) throws -> Void) throws {
        if let site {
            try FileManager.default.createDirectory(atPath: site, withIntermediateDirectories: true)
            try Data(document.text(as: .site).utf8).write(
                to: URL(filePath: site).appending(path: "index.html"),
                options: .atomic
            )
            return try print("\(site)/index.html: \(document.routes.count) routes")
        }
        let format: DocumentFormat =
            switch self.kind {
            case .asyncapi: .asyncAPI
            case .markdown: .markdown
            case .openapi where self.openAPIVersion == "3.2": .openAPIWithStreams(path: self.gatewayPath)
            case .openapi: .openAPI(path: self.gatewayPath)
            case .document, nil: .json
            }
        try print(document.text(as: format))
    }
}

#endif
