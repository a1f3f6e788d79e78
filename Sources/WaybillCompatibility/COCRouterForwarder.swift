public import Waybill
internal import WaybillRouting

/// Forwards URLs as COCRouter does: each URL ends with one completion, and then a filter sees failures.
///
/// ```swift
/// let forwarder = COCRouterForwarder(bus) { url, mode in print(url, mode.rawValue) }
/// await forwarder.forward("order://detail/") { completion in print(completion.mode.rawValue) }
/// ```
///
/// Use it for code that depends on the modes, or on a filter that runs after the completion. The filter of a
/// forwarder sees the URLs of that forwarder. ``Waybill/MessageBus/setForwardFilter(_:)`` sets a filter for
/// every forwarder of a bus. Both filters also see text that is not a URL, as 400. A `FilterMiddleware`
/// intercepts every delivery of a bus before the caller has its reply, and does not see such text.
public struct COCRouterForwarder: Sendable {
    /// How a forwarded URL ended.
    public struct Completion: Sendable {
        /// The mode.
        public let mode: COCRouterMode

        /// The value that the action returned; nil if the URL failed.
        public let value: (any Sendable)?

        /// Why the URL failed; nil if it did not.
        public let error: RoutingError?
    }

    /// Sees the URLs that fail, with their modes.
    public typealias Filter = @Sendable (_ url: String, _ mode: COCRouterMode) -> Void

    private let bus: MessageBus
    private let filter: Filter

    /// Creates a forwarder.
    ///
    /// - Parameters:
    ///   - bus: The bus that URLs are routed on, which the forwarder holds.
    ///   - filter: Sees every URL that fails, after its completion, where the caller is isolated.
    public init(_ bus: MessageBus, filter: @escaping Filter = { _, _ in }) {
        self.bus = bus
        self.filter = filter
    }

    /// Forwards a URL.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - parameters: More parameters for the action. They can have any type, including closures.
    ///   - completion: Called once, before the filter, with the isolation of the caller.
    /// - Returns: The argument of the completion.
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
    /// Sets the filter that sees every URL that fails, whichever ``COCRouterForwarder`` of this bus has
    /// forwarded it; there is one, the last one set.
    ///
    /// - Parameter filter: Called after the completion and the forwarder's own filter, where the caller is
    ///   isolated.
    public func setForwardFilter(_ filter: @escaping COCRouterForwarder.Filter) {
        self.attachments.set(ForwardFilter(body: filter))
    }
}

/// The filter of all forwarders of a bus.
private struct ForwardFilter: Sendable {
    let body: COCRouterForwarder.Filter
}
