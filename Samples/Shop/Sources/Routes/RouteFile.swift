internal import Foundation
public import Waybill
internal import WaybillConfiguration

/// A file with more routes, which can be read again while the shop is open.
///
/// The routes of the file are exposed to customers.
public actor RouteFile {
    private let bus: MessageBus
    private let path: String
    private var exposed: [Registration] = []

    /// Creates a file that has not been read.
    public init(_ path: String, for bus: MessageBus) {
        self.bus = bus
        self.path = path
    }

    /// Reads the file.
    ///
    /// If the file has an error, the routes are unchanged.
    public func load() throws {
        let routes = try RouteConfiguration(contentsOf: URL(filePath: self.path))
        try self.bus.load(routes)
        let before = self.exposed
        // Expose the new routes before the old ones are withdrawn, so that routes in both stay reachable.
        self.exposed = try routes.entries.map { try self.bus.expose($0.pattern) }
        for registration in before { registration.cancel() }
    }

    /// Reads the file again.
    ///
    /// - Returns: The result, on one line.
    public func reload() -> String {
        do {
            try self.load()
            return "\(self.exposed.count) routes of \(self.path)"
        } catch {
            return SafeText.line("\(error); the routes stay as they are", limit: 400)
        }
    }
}
