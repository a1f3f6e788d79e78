#if Macros

internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros
internal import WaybillMacros

/// The compiler plug-in that expands the macros.
@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ModuleMacro.self, RouteMacro.self, ServiceMacro.self,
    ]
}

// The compiler finds its macros only in the plug-in's own module. The classes below inherit from classes in a
// library, which tests can import. If a test imported a plug-in instead, the plug-in and all tests of the
// package would be built for the machine that compiles.

final class ModuleMacro: WaybillMacros.ModuleMacro {}

final class RouteMacro: WaybillMacros.RouteMacro {}

final class ServiceMacro: WaybillMacros.ServiceMacro {}

#else

/// The plug-in in a build without macros.
///
/// The target must be a program even when the trait `Macros` is off.
@main
struct Plugin {
    static func main() {}
}

#endif
