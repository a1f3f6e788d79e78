#if Serve
public import ServiceLifecycle

/// A server as a service among others: name it after the bus, so that it ends before the bus does.
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
