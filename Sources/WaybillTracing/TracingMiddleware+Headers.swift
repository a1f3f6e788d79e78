#if Tracing
internal import Instrumentation
internal import ServiceContextModule
internal import Tracing

extension TracingMiddleware {
    /// Returns headers that identify a span, for another message.
    func headers(for context: ServiceContext) -> [String: String] {
        var headers: [String: String] = [:]
        self.instrument.inject(context, into: &headers, using: HeaderInjector())
        return headers
    }

    /// Returns a context to which the span in a message's headers is added.
    func context(in headers: [String: String], inside context: ServiceContext) -> ServiceContext {
        var context = context
        self.instrument.extract(headers, into: &context, using: HeaderExtractor())
        return context
    }
}

private struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
        carrier[key] = value
    }
}

private struct HeaderExtractor: Extractor {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
}
#endif
