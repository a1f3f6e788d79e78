#if Tool
internal import ArgumentParser
internal import WaybillCompatibility
internal import WaybillRouting

/// The name of routing conventions, in any letter case, with or without hyphens.
enum ConventionsName: String, CaseIterable, ExpressibleByArgument {
    case waybill
    case yfRouter
    case ftRouter
    case cocRouter
    case zikRouter

    init?(argument: String) {
        let wanted = argument.lowercased().filter { $0.isLetter }
        guard let name = Self.allCases.first(where: { $0.rawValue.lowercased() == wanted }) else {
            return nil
        }
        self = name
    }

    var conventions: RoutingConventions {
        switch self {
        case .waybill: .waybill
        case .yfRouter: .yfRouter
        case .ftRouter: .ftRouter
        case .cocRouter: .cocRouter
        case .zikRouter: .zikRouter
        }
    }
}
#endif
