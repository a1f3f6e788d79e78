public import WaybillRouting

/// The number by which the COCRouter library reports the result of a forwarded URL.
///
/// Use the modes in programs that keep their COCRouter completions.
///
/// ```swift
/// let mode = COCRouterMode(error.code)                      // 401 for `noRoute`
/// let code = RoutingError.Code(COCRouterMode(rawValue: 401))  // and back
/// ```
///
/// Every error code has one of the four failure modes below, and each of these modes converts back to one
/// error code. A mode may also have any other number, which counts as a failure.
public struct COCRouterMode: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int

    /// Creates a mode from any number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// 200: the action was called.
    public static let done = Self(rawValue: 200)
    /// 400: the URL could not be parsed.
    public static let urlNotParsed = Self(rawValue: 400)
    /// 401: no route matches the URL.
    public static let noRoute = Self(rawValue: 401)
    /// 402: a route matches the URL, but the route has no handler.
    public static let noHandler = Self(rawValue: 402)
    /// 403: the action does not accept the arguments.
    public static let wrongArguments = Self(rawValue: 403)
}

extension COCRouterMode {
    /// Creates the mode of a failure or of a reply.
    ///
    /// COCRouter's actions neither fail nor take time, so COCRouter has no mode for a handler that fails or
    /// exceeds its deadline. The codes of these failures, and all other codes without a corresponding mode,
    /// become ``noHandler``.
    ///
    /// - Parameter code: The code of the failure; nil for a reply, which has the mode ``done``.
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
    /// Creates the code that corresponds to a mode; nil for ``COCRouterMode/done``, which is not a failure.
    ///
    /// A number that COCRouter does not define becomes `handlerFailed`, because the number does not show the
    /// reason for the failure.
    ///
    /// - Parameter mode: The mode that a completion received.
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
