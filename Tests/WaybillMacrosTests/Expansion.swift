#if Macros

import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import WaybillMacros

private let macroSpecs = [
    "Module": MacroSpec(type: ModuleMacro.self, conformances: ["Module"]),
    "Route": MacroSpec(type: RouteMacro.self),
    "Service": MacroSpec(type: ServiceMacro.self),
]

/// Expects the code that the macros generate for correct code, and their warnings.
func expectExpansion(
    of source: String,
    is expanded: String,
    warning diagnostics: [DiagnosticSpec] = [],
    location: Testing.SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source,
        expandedSource: expanded,
        diagnostics: diagnostics,
        macroSpecs: macroSpecs,
        failureHandler: { Issue.record("\($0.message)", sourceLocation: location) }
    )
}

/// Expects the diagnostics of the macros for incorrect code, and no other ones.
///
/// `fixed` is the source after the fix-its.
func expectMisuse(
    of source: String,
    _ diagnostics: [DiagnosticSpec],
    fixed: String? = nil,
    location: Testing.SourceLocation = #_sourceLocation
) {
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
        sourceFiles: [file: .init(moduleName: "TestModule", fullFilePath: "test.swift")]
    )
    let expanded = file.expand(
        macroSpecs: macroSpecs,
        contextGenerator: {
            BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
        },
        indentationWidth: .spaces(4)
    )
    assertMacroExpansion(
        source,
        expandedSource: expanded.description,
        diagnostics: diagnostics,
        macroSpecs: macroSpecs,
        fixedSource: fixed,
        failureHandler: { Issue.record("\($0.message)", sourceLocation: location) }
    )
}

/// Expects an error for a member of a module.
///
/// The members begin in line 3 and column 1.
func expectMisuse(
    ofMember member: String,
    _ diagnostics: [DiagnosticSpec],
    fixed: String? = nil,
    location: Testing.SourceLocation = #_sourceLocation
) {
    func module(_ member: String) -> String { "@Module(\"app://a\")\nactor A {\n\(member)\n}" }
    expectMisuse(of: module(member), diagnostics, fixed: fixed.map(module), location: location)
}

#endif
