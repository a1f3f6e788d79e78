internal import WaybillRouting

/// Makes what somebody gets who asks for a service.
final class ServiceMaker<Service: Sendable>: Sendable {
    typealias Make = @Sendable (BusCore, ServiceWish) throws(RoutingError) -> Service

    let make: Make

    init(_ make: @escaping Make) { self.make = make }

    /// A proxy that sends messages to what is below a URL.
    static func proxy(
        at url: String,
        _ proxy: @escaping @Sendable (ServiceEndpoint) -> Service
    ) -> ServiceMaker<Service> {
        ServiceMaker { core, wish in
            proxy(ServiceEndpoint(bus: MessageBus(sharing: core), url: url, timeout: wish.timeout))
        }
    }
}

/// What somebody says who asks for a service, and what led there.
struct ServiceWish: Sendable {
    let name: String?
    let timeout: Duration?
    /// The services that were asked for so that this one is.
    var chain: [ServiceKey] = []
}
