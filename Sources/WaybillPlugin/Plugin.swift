#if Macros

internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros
internal import WaybillMacros

/// What the compiler asks for the expansion of a macro.
@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ModuleMacro.self, RouteMacro.self, ServiceMacro.self,
    ]
}

// The compiler looks for its macros in the plug-in's own module. What they do is in a library, which tests
// can use: a test that uses a plug-in is built for the machine that compiles, and all tests of the package
// with it.

final class ModuleMacro: WaybillMacros.ModuleMacro {}

final class RouteMacro: WaybillMacros.RouteMacro {}

final class ServiceMacro: WaybillMacros.ServiceMacro {}

#else

/// A plug-in has to be a program, also where it is asked for nothing.
@main
struct Plugin {
    static func main() {}
}

#endif
