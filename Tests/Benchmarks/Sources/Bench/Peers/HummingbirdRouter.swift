import HTTPTypes
@_spi(Internal) import Hummingbird
import Logging
import Measure
import Subjects

extension Peers {
    /// Hummingbird's trie alone.
    ///
    /// The input is a path, and the output is the value and the parameters.
    ///
    /// The trie is behind an SPI, and Hummingbird's own benchmarks measure it.
    static func hummingbirdTrie(_ routes: [String], asking paths: [String]) -> Subject {
        let builder = RouterPathTrieBuilder<Int>()
        for path in routes { builder.addEntry(RouterPath(path), value: 1) }
        let trie = builder.build()
        precondition(paths.allSatisfy { trie.resolve($0) != nil }, "a path is not resolved")
        return .plain("Hummingbird RouterTrie") { count in
            var sum = 0
            var next = 0
            for _ in 0..<count {
                if let (value, parameters) = trie.resolve(paths[next]) { sum += value + parameters.count * 0 }
                next = next + 1 == paths.count ? 0 : next + 1
            }
            precondition(sum == count, "a path was not resolved")
        }
    }

    /// Hummingbird's router as its users call it: a request is the input, and the response of the route's
    /// closure is the output.
    static func hummingbird(_ routes: [String], asking paths: [String]) -> Subject {
        let router = Router(context: BareContext.self)
        for path in routes { router.on(RouterPath(path), method: .get) { _, _ in Response(status: .ok) } }
        let responder = router.buildResponder()
        let requests = paths.map { path in
            Request(
                head: HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path),
                body: RequestBody(buffer: .init())
            )
        }
        let context = BareContext(source: BareSource())
        return Subject("Hummingbird Router.respond") { count in
            var sum = 0
            var next = 0
            let start = MonotonicTime.now
            for _ in 0..<count {
                sum += try await responder.respond(to: requests[next], context: context).status.code
                next = next + 1 == requests.count ? 0 : next + 1
            }
            let time = MonotonicTime.now - start
            precondition(sum == count * 200, "a path was not routed")
            return time
        }
    }
}

private struct BareContext: RequestContext {
    typealias Source = BareSource

    var coreContext: CoreRequestContextStorage

    init(source: Source) { self.coreContext = CoreRequestContextStorage(source: source) }
}

private struct BareSource: RequestContextSource {
    let logger = Logger(label: "benchmarks")
}
