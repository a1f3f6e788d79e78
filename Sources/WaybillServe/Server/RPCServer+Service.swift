#if Serve
public import ServiceLifecycle

/// A server as a service.
///
/// List the server after the bus in a service group, so that the server shuts down before the bus does.
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
