#if Serve
public import ServiceLifecycle

/// A server can run in a service group: list it after the bus, so that it shuts down before the bus does.
extension RPCServer: Service {}

extension RPCServerCore {
    func run() async throws {
        try await withGracefulShutdownHandler {
            try await self.serve()
        } onGracefulShutdown: {
            self.beginGracefulShutdown()
        }
    }
}
#else
extension RPCServerCore {
    func run() async throws { try await self.serve() }
}
#endif
