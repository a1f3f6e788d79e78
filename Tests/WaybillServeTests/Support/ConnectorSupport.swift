import Logging

@testable import WaybillServe

extension RPCConnector.Configuration {
    /// The default configuration without log output.
    static var quiet: Self {
        var configuration = Self()
        configuration.logger = Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }
        return configuration
    }
}
