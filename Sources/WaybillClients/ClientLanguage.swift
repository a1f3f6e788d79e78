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
        switch language {
        case .python:
            var writer = PythonClient(model, name: name)
            return writer.write()
        case .typeScript:
            var writer = TypeScriptClient(model, name: name)
            return writer.write()
        case .swift:
            var writer = SwiftClient(model, name: name)
            return writer.write()
        }
    }
}
