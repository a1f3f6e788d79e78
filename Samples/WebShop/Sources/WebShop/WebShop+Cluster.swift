#if Cluster
internal import Waybill
internal import WaybillNATS

extension WebShop {
    /// Makes the shop another node of the cluster that `Samples/cluster` starts.
    ///
    /// The node receives a share of the requests of customers in other processes, and answers its own
    /// customers.
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
