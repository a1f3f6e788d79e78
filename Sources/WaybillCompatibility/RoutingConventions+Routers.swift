public import WaybillRouting

extension RoutingConventions {
    /// The conventions of the YFRouter library.
    public static let yfRouter = {
        var conventions = Self()
        conventions.hasFragment = false
        conventions.placeholders = .colon
        conventions.bestMatch = .literalWithoutBacktracking
        conventions.sameShape = .replaces
        conventions.keepsQueryNamesWithoutValue = false
        conventions.precedence = .queryBeforePath
        return conventions
    }()

    /// The conventions of the FTRouter library.
    public static let ftRouter = {
        var conventions = Self()
        conventions.schemeMustBeRegistered = true
        conventions.host = .isFirstSegmentUnlessDotted
        conventions.leadingVerbs = ["push", "present", "back", "root"]
        conventions.placeholders = .none
        conventions.patternQuery = .isIgnored
        conventions.sameShape = .replaces
        conventions.duplicateQueryNames = .firstWins
        conventions.keepsQueryNamesWithoutValue = false
        conventions.precedence = .queryBeforePath
        return conventions
    }()

    /// The conventions of the COCRouter library.
    public static let cocRouter = {
        var conventions = Self()
        conventions.missingScheme = .isError
        conventions.schemeAliases = ["http": "https"]
        conventions.segmentsIgnoreCase = true
        conventions.valuesNeedExactCase = true
        conventions.decodesWholeURL = true
        conventions.placeholders = .angleBrackets
        conventions.placeholdersSpanSegments = true
        conventions.patternsIgnoreSpaces = true
        conventions.bestMatch = .firstRegistered
        conventions.queryValues = .beginBehindLastEquals
        conventions.keepsQueryNamesWithoutValue = false
        return conventions
    }()

    /// The conventions of LiliCode's Router library, for a bus whose schemes are connected to a
    /// `NativeConnector`.
    public static let nativeConnector = {
        var conventions = Self()
        conventions.schemeIgnoresCase = false
        conventions.missingScheme = .isError
        conventions.placeholders = .none
        conventions.keepsQueryNamesWithoutValue = false
        return conventions
    }()

    /// The conventions of the ZIKRouter library.
    public static let zikRouter = {
        var conventions = Self()
        conventions.schemeIgnoresCase = false
        conventions.missingScheme = .isError
        conventions.placeholders = .colon
        conventions.patternQuery = .isIgnoredBesidePlaceholders
        conventions.bestMatch = .mostLiteral
        conventions.sameShape = .replaces
        conventions.keepsQueryNamesWithoutValue = false
        conventions.precedence = .queryBeforePath
        return conventions
    }()

    /// The conventions above, by name, for programs whose users choose the conventions.
    public static let presets: [String: Self] = [
        "yfRouter": .yfRouter, "ftRouter": .ftRouter, "cocRouter": .cocRouter,
        "nativeConnector": .nativeConnector, "zikRouter": .zikRouter,
    ]
}
