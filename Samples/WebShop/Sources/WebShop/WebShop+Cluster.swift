#if Cluster
internal import Waybill
internal import WaybillNATS

extension WebShop {
    /// Makes the shop one more instance of what `Samples/cluster` starts: it takes a share of what customers of
    /// other processes ask for, and its own are answered here.
    func join(at server: String) throws -> ClusterNode {
        for url in Self.reads + Self.calls { try self.bus.share(url) }
        var configuration = ClusterNode.Configuration()
        configuration.name = "web"
        return self.bus.join(
            NATSTransport(servers: [server], realm: "shop"),
            configuration: configuration
        )
    }
}
#endif
