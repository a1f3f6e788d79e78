#if Macros

import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import WaybillMacros

/// Expects what the macros write, and what they say; `fixed` is the source after all fix-its.
func expectExpansion(
    of source: String,
    is expanded: String,
    diagnostics: [DiagnosticSpec] = [],
    fixed: String? = nil,
    location: Testing.SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source,
        expandedSource: expanded,
        diagnostics: diagnostics,
        macroSpecs: [
            "Module": MacroSpec(type: ModuleMacro.self, conformances: ["Module"]),
            "Route": MacroSpec(type: RouteMacro.self),
        ],
        fixedSource: fixed,
        failureHandler: { Issue.record("\($0.message)", sourceLocation: location) }
    )
}

#endif
