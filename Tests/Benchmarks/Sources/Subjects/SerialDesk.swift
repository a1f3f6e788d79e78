internal import Measure
internal import Waybill
public import WaybillEventLoop

/// A serial module, and a caller of the module.
public struct SerialDesk: Sendable {
    private static let urls = UserURLs("app://user/serial")
    private static let behindTheRest = "app://user/serial?uid=0"
    /// The size of a burst, which is below the limit of a mailbox.
    private static let window = 896

    private let bus: MessageBus
    private let caller: Caller
    private let module: UserModule

    /// Creates the desk on a loop.
    ///
    /// - Throws: The error of a registration.
    public init(on loop: EventLoop) throws {
        self.bus = MessageBus(eventLoop: loop)
        self.caller = Caller(eventLoop: loop)
        self.module = UserModule(eventLoop: loop)
        for pattern in GitHubRoutes.patterns { try self.bus.register(pattern) { _ in 0 } }
        try self.bus.configureMailbox(of: self.module, MailboxConfiguration(isSerial: true))
        try self.bus.register("app://user/serial", on: self.module) { module, message in
            module.detail(uid: try message.parameters.require("uid"))
        }
    }

    /// Routes URLs one after the other.
    public func route(_ count: Int) async throws -> UInt64 {
        try await self.caller.route(Self.urls, on: self.bus, count)
    }

    /// Sends in bursts, and awaits the end of each.
    public func send(_ count: Int) async throws -> UInt64 {
        let before = await self.module.visits
        let bus = self.bus
        let time = try await self.caller.run {
            let start = MonotonicTime.now
            for index in 0..<count {
                bus.send(Self.urls[index])
                if index % Self.window == Self.window - 1 { try await bus.route(Self.behindTheRest) }
            }
            try await bus.route(Self.behindTheRest)
            return MonotonicTime.now - start
        }
        let handled = await self.module.visits - before
        precondition(handled > count, "a message was lost")
        return time
    }
}
