public import WaybillRouting

/// How COCRouter says what became of a forwarded URL, for programs that bring its completions along.
///
/// ```swift
/// let mode = COCRouterMode(error.code)                      // 401 for `noRoute`
/// let code = RoutingError.Code(COCRouterMode(rawValue: 401))  // and back
/// ```
///
/// There are five of them, and more codes: every code has a mode, and the way back gives the code that the
/// mode is named for. Any other number is kept as it is, and is a failure.
public struct COCRouterMode: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int

    /// Makes a mode of any number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// 200: the action was called.
    public static let done = Self(rawValue: 200)
    /// 400: the URL could not be parsed.
    public static let urlNotParsed = Self(rawValue: 400)
    /// 401: there is no route.
    public static let noRoute = Self(rawValue: 401)
    /// 402: there is a route, and no handler.
    public static let noHandler = Self(rawValue: 402)
    /// 403: the arguments are not those that the action takes.
    public static let wrongArguments = Self(rawValue: 403)
}

extension COCRouterMode {
    /// The mode of a failure.
    ///
    /// What COCRouter does not know, since its actions neither fail nor take time, is a route without a
    /// handler: 402.
    ///
    /// - Parameter code: the failure's code, or nil for a reply, which is ``done``.
    public init(_ code: RoutingError.Code?) {
        switch code {
        case nil: self = .done
        case .invalidURL, .invalidPattern: self = .urlNotParsed
        case .noRoute, .conflict: self = .noRoute
        case .missingParameter, .invalidParameter, .typeMismatch, .notTransferable: self = .wrongArguments
        default: self = .noHandler
        }
    }
}

extension RoutingError.Code {
    /// The code that a mode of COCRouter is named for; nil for ``COCRouterMode/done``, which is no failure.
    ///
    /// A number that COCRouter does not have is `handlerFailed`: the action says that it failed, and nothing
    /// else is known.
    ///
    /// - Parameter mode: the mode that a completion was given.
    public init?(_ mode: COCRouterMode) {
        switch mode {
        case .done: return nil
        case .urlNotParsed: self = .invalidURL
        case .noRoute: self = .noRoute
        case .noHandler: self = .noHandler
        case .wrongArguments: self = .invalidParameter
        default: self = .handlerFailed
        }
    }
}
