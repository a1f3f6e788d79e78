import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// A handler that adds one to a parameter: at once or later, on the bus's loop or on another.
enum AddingHandler: CaseIterable, Sendable {
    case now, later, far, farLater

    /// Registers the handler, which records each of its calls.
    func register(on bus: MessageBus, _ journal: Journal<String>, at url: String = "app://user/add") throws {
        let far = Probe(eventLoop: EventLoop())
        switch self {
        case .now:
            try bus.register(url) { message -> Int in
                journal.add("handler")
                return try message.parameters.require("n") + 1
            }
        case .later:
            try bus.register(url) { message -> Int in
                await Task.yield()
                journal.add("handler")
                return try message.parameters.require("n") + 1
            }
        case .far:
            try bus.register(url, on: far) { _, message -> Int in
                journal.add("handler")
                return try message.parameters.require("n") + 1
            }
        case .farLater:
            try bus.register(url, on: far) { _, message -> Int in
                await Task.yield()
                journal.add("handler")
                return try message.parameters.require("n") + 1
            }
        }
    }
}
