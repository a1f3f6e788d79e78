#if Web
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import WaybillTestSupport

/// A web server on loopback with a free port.
///
/// The server ends with its scope.
struct WebServer: Sendable {
    let port: Int
    let journal: Journal<String>

    func url(_ path: String) -> String { "http://127.0.0.1:\(self.port)\(path)" }

    /// Runs code while a server listens.
    static func run<Value: Sendable>(
        _ body: (WebServer) async throws -> Value
    ) async throws -> Value {
        let journal = Journal<String>()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture {
                    try child.pipeline.syncOperations.configureHTTPServerPipeline()
                    try child.pipeline.syncOperations.addHandler(WebHandler(journal: journal))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            let value = try await body(WebServer(port: channel.localAddress?.port ?? 0, journal: journal))
            try await channel.close()
            return value
        } catch {
            try? await channel.close()
            throw error
        }
    }
}
#endif
