internal import FoundationEssentials
package import WaybillRouting

/// An error that a module has declared for its callers, in the form that is sent between processes.
package struct DeclaredError: EncodedModuleError, CustomStringConvertible {
    /// The name of the error's type.
    package let name: String
    /// The code of the error.
    package let code: String
    /// The error message for people.
    package let message: String
    /// The HTTP status.
    package let status: Int
    /// The encoded error.
    private let value: JSONText

    /// Creates the encoded form of the declared error that is the cause of an error.
    ///
    /// Returns nil if the cause is not a declared error.
    package init?(of error: RoutingError) {
        guard error.code == .handlerFailed else { return nil }
        if let declared = error.cause as? DeclaredError {
            self = declared
        } else if let declared = error.cause as? any ModuleError {
            self.init(declared)
        } else {
            return nil
        }
    }

    private init(_ error: some ModuleError) {
        self.name = type(of: error).name
        self.code = error.code
        self.message = SafeText.line(error.message, limit: 1_000)
        self.status = Self.status(error.status)
        // If the error cannot be encoded, only its name, code, message and status are sent.
        self.value = (try? JSONCoding.encoder.encode(error)).map { JSONText(Array($0)) } ?? .null
    }

    /// Creates the error that another process has encoded.
    ///
    /// Returns nil when the text is not a declared error.
    package init?(_ text: JSONText, message: String) {
        guard let name = text.member(named: "type")?.string, let code = text.member(named: "code")?.string
        else {
            return nil
        }
        self.name = name
        self.code = code
        self.message = message
        self.status = Self.status(text.member(named: "status")?.int)
        self.value = text.member(named: "value") ?? .null
    }

    /// Returns a status if HTTP has it for errors, and otherwise 500.
    private static func status(_ status: Int?) -> Int {
        status.flatMap { (400...599).contains($0) ? $0 : nil } ?? 500
    }

    package func decoded<Failure: ModuleError>(as type: Failure.Type) -> Failure? {
        try? JSONCoding.decoder.decode(type, from: Data(self.value.slice))
    }

    package var description: String { "\(self.name).\(self.code)" }

    /// The error as a JSON object that ``init(_:message:)`` can read.
    package var json: JSONText {
        var writer = JSONWriter()
        writer.raw("{")
        writer.name("type", isFirst: true)
        writer.string(self.name)
        writer.name("code")
        writer.string(self.code)
        writer.name("status")
        writer.raw(String(self.status))
        writer.name("value")
        writer.raw(self.value)
        writer.raw("}")
        return JSONText(writer.bytes)
    }
}
