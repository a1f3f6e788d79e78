internal import CWaybill
internal import WaybillRouting

/// A status of `waybill.h`: the result of a call, as a number.
struct HostStatus: Error, Hashable {
    let rawValue: Int32

    static let ok = Self(WAYBILL_OK)
    static let invalidArgument = Self(WAYBILL_INVALID_ARGUMENT)
    static let wrongThread = Self(WAYBILL_WRONG_THREAD)
    static let refused = Self(WAYBILL_REFUSED)
    static let other = Self(WAYBILL_OTHER)

    private init(_ value: some BinaryInteger) { self.rawValue = Int32(value) }

    /// Creates the status of an error.
    init(_ error: any Error) {
        switch error {
        case let status as HostStatus: self = status
        case let error as RoutingError: self = Self.codes.first { $0.code == error.code }?.status ?? .other
        case is CancellationError: self = Self(WAYBILL_CANCELLED)
        // The remaining errors are errors in the JSON text that the C program passed.
        default: self = .invalidArgument
        }
    }

    init(rawValue: Int32) { self.rawValue = rawValue }

    /// The name of the status.
    ///
    /// The status of an error code has the name of the code.
    var name: String {
        switch self {
        case .ok: "ok"
        case .invalidArgument: "invalidArgument"
        case .wrongThread: "wrongThread"
        default: Self.codes.first { $0.status == self }?.code.description ?? "other"
        }
    }

    /// The error codes of the bus, each with its status.
    static let codes: [(code: RoutingError.Code, status: Self)] = [
        (.invalidURL, Self(WAYBILL_INVALID_URL)),
        (.invalidPattern, Self(WAYBILL_INVALID_PATTERN)),
        (.conflict, Self(WAYBILL_CONFLICT)),
        (.noRoute, Self(WAYBILL_NO_ROUTE)),
        (.noHandler, Self(WAYBILL_NO_HANDLER)),
        (.refused, Self(WAYBILL_REFUSED)),
        (.missingParameter, Self(WAYBILL_MISSING_PARAMETER)),
        (.invalidParameter, Self(WAYBILL_INVALID_PARAMETER)),
        (.typeMismatch, Self(WAYBILL_TYPE_MISMATCH)),
        (.handlerFailed, Self(WAYBILL_HANDLER_FAILED)),
        (.deadlineExceeded, Self(WAYBILL_DEADLINE_EXCEEDED)),
        (.cancelled, Self(WAYBILL_CANCELLED)),
        (.mailboxFull, Self(WAYBILL_MAILBOX_FULL)),
        (.deadlock, Self(WAYBILL_DEADLOCK)),
        (.hopLimitExceeded, Self(WAYBILL_HOP_LIMIT_EXCEEDED)),
        (.notTransferable, Self(WAYBILL_NOT_TRANSFERABLE)),
        (.unreachable, Self(WAYBILL_UNREACHABLE)),
        (.shutDown, Self(WAYBILL_SHUT_DOWN)),
        (.infiniteRecursion, Self(WAYBILL_INFINITE_RECURSION)),
    ]

    /// The names as C strings, which are never freed.
    static let names: [Int32: CText] = {
        let all = Self.codes.map(\.status) + [.ok, .invalidArgument, .wrongThread, .other]
        return Dictionary(uniqueKeysWithValues: all.map { ($0.rawValue, CText($0.name)) })
    }()
}

extension HostStatus: CustomStringConvertible {
    var description: String {
        switch self {
        case .invalidArgument: "an argument is a null pointer, too long, or not UTF-8"
        default: self.name
        }
    }
}
