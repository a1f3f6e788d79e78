#if Macros

internal import SwiftDiagnostics

/// What is wrong with the code that a macro stands on, in a sentence that says what to do.
struct Misuse: DiagnosticMessage, FixItMessage, NoteMessage {
    let message: String
    let severity: DiagnosticSeverity

    init(_ message: String, _ severity: DiagnosticSeverity = .error) {
        self.message = message
        self.severity = severity
    }

    var diagnosticID: MessageID { MessageID(domain: "WaybillMacros", id: "misuse") }
    var fixItID: MessageID { self.diagnosticID }
    var noteID: MessageID { self.diagnosticID }
}

#endif
