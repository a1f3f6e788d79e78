#if Macros

internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros
internal import WaybillMacros

/// The entry point with which the compiler expands macros.
@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ModuleMacro.self, RouteMacro.self, ServiceMacro.self,
    ]
}

// The compiler looks for the macros in the module of the plug-in. Their code is in a library so that tests
// can use it. A test that depends on a plug-in is built for the compiling machine, together with all tests of
// the package.

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
