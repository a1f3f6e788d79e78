package import WaybillDocuments

/// A language in which clients of a program can be generated.
package enum ClientLanguage: String, CaseIterable, Sendable {
    case python
    case typeScript
    case swift
}

extension BusDocument {
    /// Returns a client for the routes that the document exposes, as the text of one source file.
    ///
    /// The text depends only on the document, the language and the name.
    ///
    /// - Parameters:
    ///   - language: The language of the file.
    ///   - name: The name of the client. The name of the class is this name and the word `Client`.
    /// - Returns: The text of the file.
    package func client(in language: ClientLanguage, named name: String) -> String {
        let model = ClientModel(self)
        var scope = NameScope(.pascal)
        let name = scope.claim("\(name) Client")
        var writer: any ClientWriter =
            switch language {
            case .python: PythonClient(model, name: name)
            case .typeScript: TypeScriptClient(model, name: name)
            case .swift: SwiftClient(model, name: name)
            }
        return writer.write()
    }
}
