public import WaybillRouting

/// The result of a forwarded URL as COCRouter's number, for programs that keep their completions.
///
/// ```swift
/// let mode = COCRouterMode(error.code)                      // 401 for `noRoute`
/// let code = RoutingError.Code(COCRouterMode(rawValue: 401))  // and back
/// ```
///
/// COCRouter has five modes, and Waybill has more codes. Every code has a mode, and a mode is converted to
/// the code for which it is named. Any other number is kept unchanged, and is a failure.
public struct COCRouterMode: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int

    /// Creates a mode of any number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// 200: the action was called.
    public static let done = Self(rawValue: 200)
    /// 400: the URL could not be parsed.
    public static let urlNotParsed = Self(rawValue: 400)
    /// 401: no route matches.
    public static let noRoute = Self(rawValue: 401)
    /// 402: there is a route, and no handler.
    public static let noHandler = Self(rawValue: 402)
    /// 403: the arguments do not fit the action.
    public static let wrongArguments = Self(rawValue: 403)
}

extension COCRouterMode {
    /// Creates the mode of a failure.
    ///
    /// Actions of COCRouter neither fail nor take time. A failure that COCRouter does not have becomes 402, a
    /// route without a handler.
    ///
    /// - Parameter code: The code of the failure, or nil for a reply, which is ``done``.
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
    /// Creates the code for which a mode of COCRouter is named.
    ///
    /// The result is nil for ``COCRouterMode/done``, which is not a failure. A number that COCRouter does not
    /// have becomes `handlerFailed`, because only the action knows its meaning.
    ///
    /// - Parameter mode: The mode of a completion.
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
