package import Foundation

/// The recorded behaviour of other routers, as JSON.
///
/// The cases are the project's own copy, or those of the folder that `WAYBILL_CONFORMANCE` names. Cases from
/// elsewhere are more than those whose excuses are known here.
package enum RecordedCases {
    private static let elsewhere = ProcessInfo.processInfo.environment["WAYBILL_CONFORMANCE"]

    /// Whether the cases are the project's own.
    package static var areOwn: Bool { self.elsewhere == nil }

    /// The file of a router.
    package static func data(of router: String) throws -> Data {
        let folder = self.elsewhere.map { URL(filePath: $0) }
        return try Data(contentsOf: (folder ?? self.own).appending(path: "\(router).json"))
    }

    /// Why a column of a case is not as was recorded, by the case's ID and the name of the column, or `*` for what
    /// follows from one difference in many of them.
    package static func excuses() throws -> [String: [String: String]] {
        let data = try Data(contentsOf: self.own.appending(path: "excused.json"))
        return try JSONDecoder().decode([String: [String: String]].self, from: data)
    }

    private static var own: URL {
        Bundle.module.bundleURL.appending(path: "Resources").appending(path: "Conformance")
    }
}
