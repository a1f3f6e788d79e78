#if NATS
public import ServiceLifecycle

/// A node as a service.
///
/// List the node after the bus in a service group, so that the node leaves the cluster before the bus ends.
extension ClusterNode: Service {}

extension ClusterCore {
    func withGracefulShutdown(
        _ body: @Sendable () async -> Void,
        onShutdown: @escaping @Sendable () -> Void
    ) async {
        await withGracefulShutdownHandler(operation: body, onGracefulShutdown: onShutdown)
    }
}
#else
extension ClusterCore {
    func withGracefulShutdown(
        _ body: @Sendable () async -> Void,
        onShutdown: @escaping @Sendable () -> Void
    ) async {
        await body()
    }
}
#endif
