internal import WaybillRouting

/// An error that a module declares, for the tests of each transport.
package enum OrderError: ModuleError, Equatable {
    case unknown(id: Int)
    case closed

    package static var examples: [OrderError] { [.unknown(id: 7), .closed] }

    package var message: String {
        switch self {
        case .unknown(let id): "there is no order \(id)"
        case .closed: "the shop is closed"
        }
    }

    package var status: Int { if case .unknown = self { 404 } else { 409 } }
}
