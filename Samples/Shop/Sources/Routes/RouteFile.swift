internal import Foundation
internal import Waybill
internal import WaybillConfiguration

/// The file of routes beside the code, which is read again while the shop is open.
///
/// What it names is exposed to customers.
actor RouteFile {
    private let bus: MessageBus
    private let path: String
    private var exposed: [Registration] = []

    init(_ path: String, for bus: MessageBus) {
        self.bus = bus
        self.path = path
    }

    /// Reads the file; if something is wrong with it, the routes stay as they are.
    func load() throws {
        let routes = try RouteConfiguration(contentsOf: URL(filePath: self.path))
        try self.bus.load(routes)
        let before = self.exposed
        // The new ones first: what is in both stays reachable.
        self.exposed = try routes.entries.map { try self.bus.expose($0.pattern) }
        for registration in before { registration.cancel() }
    }

    /// Reads the file again, and says what became of it.
    func reload() {
        var errors = FileOutput(2)
        do {
            try self.load()
            errors.bytes.append(contentsOf: "shop: \(self.exposed.count) routes of \(self.path)\n".utf8)
        } catch {
            let line = SafeText.line("\(error); the routes stay as they are", limit: 400)
            errors.bytes.append(contentsOf: "shop: \(line)\n".utf8)
        }
        try? errors.flush()
    }
}
