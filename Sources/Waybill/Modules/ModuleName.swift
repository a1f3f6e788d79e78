/// The name of a module's type, for example `order` for `OrderModule`, `OrderController` and `Target_Order`.
package struct ModuleName {
    /// The name without the prefix or suffix that marks a module.
    package let stem: String

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

    /// The key of a module, which is equal for names whose first letters differ only in case.
    package var key: String { self.stem.prefix(1).lowercased() + self.stem.dropFirst() }

    /// The key of a module whose name is a scheme, in any case.
    package var schemeKey: String { self.stem.lowercased() }
}
