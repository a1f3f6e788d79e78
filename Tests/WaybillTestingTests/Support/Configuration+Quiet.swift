internal import Logging
internal import Waybill

extension MessageBus.Configuration {
    /// The defaults, with dead letters kept off the screen.
    static var quiet: Self { .init(logger: Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }) }
}
