/// The name of a module's type as schemes, targets and configurations write it: `order` for `OrderModule`,
/// `OrderController` and `Target_Order`.
package struct ModuleName {
    /// The name without what says that it is a module.
    let stem: String

    package init(_ type: String) {
        var name = type.split(separator: ".").last ?? type[...]
        let prefix = "Target_"
        if name.hasPrefix(prefix), name != prefix { name = name.dropFirst(prefix.count) }
        for suffix in ["Module", "Controller"] where name.hasSuffix(suffix) && name != suffix {
            name = name.dropLast(suffix.count)
            break
        }
        self.stem = String(name)
    }

    /// What names of one module have in common: their first letter may be in either case.
    var key: String { self.stem.prefix(1).lowercased() + self.stem.dropFirst() }

    /// The same for a name that is a scheme, which has no case.
    package var schemeKey: String { self.stem.lowercased() }
}
