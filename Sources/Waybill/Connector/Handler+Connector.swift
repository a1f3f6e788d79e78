internal import WaybillEventLoop

extension Handler {
    /// A connector as the handler of its messages.
    convenience init(connector: any Connector, mailbox: Mailbox, core: BusCore) {
        self.init(
            boxed: { message in
                try await connector.willRoute(message)
                return try await connector.route(message)
            },
            mailbox: mailbox,
            core: core
        )
    }
}
