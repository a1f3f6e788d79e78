#if Macros

internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros

/// What the compiler asks for the code that a macro stands for.
@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [ModuleMacro.self, RouteMacro.self]
}

#else

/// A plug-in has to be a program, also where it is asked for nothing.
@main
struct Plugin {
    static func main() {}
}

#endif
