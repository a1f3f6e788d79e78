import Logging

@testable import WaybillServe

extension RPCConnector.Configuration {
    /// The defaults, with the log kept off the screen.
    static var quiet: Self {
        var configuration = Self()
        configuration.logger = Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }
        return configuration
    }
}
