internal import Foundation
public import Waybill
internal import WaybillConfiguration

/// The file of routes beside the code, which is read again while the shop is open.
///
/// What it names is exposed to customers.
public actor RouteFile {
    private let bus: MessageBus
    private let path: String
    private var exposed: [Registration] = []

    /// Makes one that has not been read.
    public init(_ path: String, for bus: MessageBus) {
        self.bus = bus
        self.path = path
    }

    /// Reads the file; if something is wrong with it, the routes stay as they are.
    public func load() throws {
        let routes = try RouteConfiguration(contentsOf: URL(filePath: self.path))
        try self.bus.load(routes)
        let before = self.exposed
        // The new ones first: what is in both stays reachable.
        self.exposed = try routes.entries.map { try self.bus.expose($0.pattern) }
        for registration in before { registration.cancel() }
    }

    /// Reads the file again.
    ///
    /// - Returns: what became of it, on one line.
    public func reload() -> String {
        do {
            try self.load()
            return "\(self.exposed.count) routes of \(self.path)"
        } catch {
            return SafeText.line("\(error); the routes stay as they are", limit: 400)
        }
    }
}
