package import Foundation

/// The recorded behaviour of other routers, as JSON.
///
/// The cases are the project's copy, unless `WAYBILL_CONFORMANCE` names another folder. Other cases may have
/// more differences than the listed excuses.
package enum RecordedCases {
    private static let elsewhere = ProcessInfo.processInfo.environment["WAYBILL_CONFORMANCE"]

    /// Whether the cases are the project's own.
    package static var areOwn: Bool { self.elsewhere == nil }

    /// The file of a router.
    package static func data(of router: String) throws -> Data {
        let folder = self.elsewhere.map { URL(filePath: $0) }
        return try Data(contentsOf: (folder ?? self.own).appending(path: "\(router).json"))
    }

    /// Returns the reason why a column of a case differs from the recording, by the case's ID and the
    /// column's name.
    ///
    /// The name `*` covers all columns that one difference affects.
    package static func excuses() throws -> [String: [String: String]] {
        let data = try Data(contentsOf: self.own.appending(path: "excused.json"))
        return try JSONDecoder().decode([String: [String: String]].self, from: data)
    }

    private static var own: URL {
        Bundle.module.bundleURL.appending(path: "Resources").appending(path: "Conformance")
    }
}
