public import Waybill
internal import WaybillRouting

/// Forwards URLs in the same way as the COCRouter library.
///
/// The completion of a forwarded URL is called once. If the URL failed, a filter is called after the
/// completion.
///
/// ```swift
/// let forwarder = COCRouterForwarder(bus) { url, mode in print(url, mode.rawValue) }
/// await forwarder.forward("order://detail/") { completion in print(completion.mode.rawValue) }
/// ```
///
/// Use a forwarder for code that depends on COCRouter's modes, or on the order of completion and filter. The
/// filter of a forwarder receives the URLs that failed in that forwarder.
/// ``Waybill/MessageBus/setForwardFilter(_:)`` sets a filter for all forwarders of a bus. Both filters also
/// receive texts that are not URLs, with the mode 400.
///
/// A `FilterMiddleware` is called for every delivery of a bus, with or without a forwarder. The middleware is
/// called before the caller has the reply, and does not receive texts that are not URLs.
public struct COCRouterForwarder: Sendable {
    /// The result of a forwarded URL.
    public struct Completion: Sendable {
        /// The number by which COCRouter reports the result.
        public let mode: COCRouterMode

        /// The value that the action returned; nil if the URL failed.
        public let value: (any Sendable)?

        /// The error of a URL that failed; nil after a reply.
        public let error: RoutingError?
    }

    /// A closure that receives each URL that failed, with its mode.
    public typealias Filter = @Sendable (_ url: String, _ mode: COCRouterMode) -> Void

    private let bus: MessageBus
    private let filter: Filter

    /// Creates a forwarder.
    ///
    /// - Parameters:
    ///   - bus: The bus that routes the URLs. The forwarder keeps a reference to the bus.
    ///   - filter: A closure that is called for every URL that fails, after its completion, in the isolation
    ///     of the caller.
    public init(_ bus: MessageBus, filter: @escaping Filter = { _, _ in }) {
        self.bus = bus
        self.filter = filter
    }

    /// Forwards a URL.
    ///
    /// - Parameters:
    ///   - url: The URL to route.
    ///   - parameters: Values for the action in addition to the values of the URL. The values may have any
    ///     `Sendable` type, and may be closures.
    ///   - completion: A closure that is called once, before the filter, in the isolation of the caller.
    /// - Returns: The value that the completion received.
    @discardableResult
    public nonisolated(nonsending) func forward(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        completion: (Completion) -> Void = { _ in }
    ) async -> Completion {
        let end: Completion
        do throws(RoutingError) {
            let reply = try await self.bus.route(url, parameters: parameters)
            end = Completion(mode: .done, value: reply.value, error: nil)
        } catch {
            end = Completion(mode: COCRouterMode(error.code), value: nil, error: error)
        }
        completion(end)
        if end.error != nil {
            self.filter(url, end.mode)
            self.bus.attachments.value(of: ForwardFilter.self)?.body(url, end.mode)
        }
        return end
    }
}

extension MessageBus {
    /// Sets the filter that receives every URL that a ``COCRouterForwarder`` of this bus failed to forward.
    ///
    /// A bus has one such filter. A new filter replaces the previous filter.
    ///
    /// - Parameter filter: A closure that is called after the completion and after the forwarder's own
    ///   filter, in the isolation of the caller.
    public func setForwardFilter(_ filter: @escaping COCRouterForwarder.Filter) {
        self.attachments.set(ForwardFilter(body: filter))
    }
}

/// The filter for all forwarders of a bus.
private struct ForwardFilter: Sendable {
    let body: COCRouterForwarder.Filter
}
