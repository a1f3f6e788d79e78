#if Macros

internal import SwiftDiagnostics

/// A diagnostic about an invalid use of a macro, whose message also describes the correction.
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
