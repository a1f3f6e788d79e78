/// The spelling of names in a language.
enum NameStyle {
    /// `userName`
    case camel
    /// `UserName`
    case pascal
    /// `user_name`
    case snake
    /// `USER_NAME`
    case capitals
}

/// The names of one scope, in which no name occurs twice.
struct NameScope {
    private var taken: Set<String>
    private let reserved: Set<String>
    private let style: NameStyle
    private let suffix: String

    /// Creates a scope.
    ///
    /// The language or the client itself already uses the reserved names, so the suffix is appended to them.
    init(_ style: NameStyle, reserved: Set<String> = [], suffix: String = "_") {
        self.style = style
        self.reserved = reserved
        self.suffix = suffix
        self.taken = reserved
    }

    /// Returns a unique identifier of the scope for a name in the document.
    mutating func claim(_ name: String) -> String {
        var wanted = Identifier(name).spelled(self.style)
        if self.reserved.contains(wanted) { wanted += self.suffix }
        var free = wanted
        var number = 2
        while !self.taken.insert(free).inserted {
            free = "\(wanted)\(self.style == .snake || self.style == .capitals ? "_" : "")\(number)"
            number += 1
        }
        return free
    }

    /// Returns identifiers for names, each of which may occur several times.
    mutating func claim(_ names: some Sequence<String>) -> ClaimedNames {
        var identifiers: [String: String] = [:]
        for name in names where identifiers[name] == nil { identifiers[name] = self.claim(name) }
        return ClaimedNames(identifiers: identifiers)
    }
}

/// The identifiers for names in the document.
struct ClaimedNames {
    fileprivate let identifiers: [String: String]

    var values: some Sequence<String> { self.identifiers.values }

    /// The identifier for a name, which must have been claimed.
    subscript(name: String) -> String {
        guard let identifier = self.identifiers[name] else {
            preconditionFailure("internal error: the name \(name) has not been claimed")
        }
        return identifier
    }

    func map(_ transform: (String) -> String) -> Self {
        Self(identifiers: self.identifiers.mapValues(transform))
    }
}

/// The names of the types and classes of a client, by their names in the document.
struct TypeNames {
    /// The names of the declared types, by the names of their schemas.
    let types: ClaimedNames
    /// The names of the classes of errors, by the names of the errors.
    let failures: ClaimedNames
    /// The names of the classes of routes, by the names of their namespaces.
    let routes: ClaimedNames

    /// Claims the names for a client; `name` is the name of the client, which uses the reserved names itself.
    init(_ model: ClientModel, client name: String, reserved: Set<String>) {
        var scope = NameScope(.pascal, reserved: reserved.union([name]), suffix: "Value")
        self.types = scope.claim(model.declarations.map(\.name))
        self.failures = scope.claim(model.failures.map(\.name))
        var routes: [String: String] = [:]
        for namespace in model.namespaces { routes[namespace.name] = scope.claim("\(namespace.name) Routes") }
        self.routes = ClaimedNames(identifiers: routes)
    }
}

extension String {
    /// The name of a whole number, such as `n1`, or `n minus 1` for -1.
    var numberName: String { "n\(self.replacing("-", with: " minus "))" }
}

/// A name in a document, split into its words.
private struct Identifier {
    private var words: [String] = []

    init(_ name: String) {
        var word = ""
        var previous: Unicode.Scalar?
        func isUpper(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isUppercase }
        let scalars = Array(name.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            guard Self.isAllowed(scalar) else {
                self.add(&word)
                previous = nil
                continue
            }
            if let before = previous, isUpper(scalar) {
                let next = index + 1 < scalars.count ? scalars[index + 1] : nil
                let isLastOfCapitals = isUpper(before) && next.map { $0.properties.isLowercase } == true
                if !isUpper(before) || isLastOfCapitals { self.add(&word) }
            }
            word.unicodeScalars.append(scalar)
            previous = scalar
        }
        self.add(&word)
        if self.words.isEmpty { self.words = [name.isEmpty ? "empty" : "symbol"] }
        if let first = self.words[0].unicodeScalars.first, ("0"..."9").contains(first) {
            self.words.insert("n", at: 0)
        }
    }

    private mutating func add(_ word: inout String) {
        if !word.isEmpty { self.words.append(word) }
        word = ""
    }

    /// Returns whether a character is allowed in identifiers of each language and has only one spelling
    /// there.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) }
        guard scalar.properties.isXIDContinue, !(0x1100...0x11FF).contains(scalar.value) else { return false }
        guard [.lowercaseLetter, .uppercaseLetter, .otherLetter].contains(scalar.properties.generalCategory)
        else { return false }
        // Python treats two characters as equal if they have the same compatible form (NFKC).
        let lower = scalar.properties.lowercaseMapping.unicodeScalars
        return lower.count == 1 && lower.first?.properties.changesWhenNFKCCaseFolded == false
    }

    func spelled(_ style: NameStyle) -> String {
        func capitalised(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }
        switch style {
        case .snake: return self.words.map { $0.lowercased() }.joined(separator: "_")
        case .capitals: return self.words.map { $0.uppercased() }.joined(separator: "_")
        case .pascal: return self.words.map(capitalised).joined()
        case .camel:
            let first = self.words[0]
            let isAbbreviation = first.allSatisfy { $0.isUppercase || $0.isNumber }
            let start = isAbbreviation ? first.lowercased() : first.prefix(1).lowercased() + first.dropFirst()
            return start + self.words.dropFirst().map(capitalised).joined()
        }
    }
}
