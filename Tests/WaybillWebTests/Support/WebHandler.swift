#if Web
internal import NIOCore
internal import NIOHTTP1
internal import WaybillTestSupport

/// Answers the requests of one connection.
final class WebHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let journal: Journal<String>
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()

    init(journal: Journal<String>) { self.journal = journal }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            self.body.clear()
        case .body(let part): self.body.writeImmutableBuffer(part)
        case .end:
            guard let head = self.head else { return }
            let body = [head.headers["content-type"].first, String(buffer: self.body)].compactMap(\.self)
            let said = self.body.readableBytes == 0 ? [] : body
            self.journal.add((["\(head.method) \(head.uri)"] + said).joined(separator: " "))
            self.answer(head, context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { self.journal.add("closed") }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let path = head.uri.prefix { $0 != "?" }
        switch path {
        case "/silent": return
        case "/broken": context.close(promise: nil)
        case "/missing": self.send(context, .notFound, ["nothing here"])
        case "/moved": self.send(context, .found, [], ["location": "/echo?moved"])
        case "/long":
            self.send(context, .ok, Array(repeating: String(repeating: "x", count: 1_000), count: 64))
        case "/stuck":
            self.begin(context, .ok, ["x-part": "1"])
            self.part(context, "first")
            context.flush()
        case "/bus/subscribe":
            self.begin(context, .ok, ["content-type": "text/event-stream"])
            context.flush()
        case _ where path.hasPrefix("/bus/sign-in/"):
            self.send(context, .found, [], ["location": "/sign-in"])
        case _ where path.hasPrefix("/bus/page/"):
            self.send(context, .ok, ["<p>"], ["content-type": "text/html"])
        case _ where path.hasPrefix("/bus/empty/"): self.send(context, .noContent, [])
        case _ where path.hasPrefix("/bus/"): self.answerAsGateway(head, context)
        default:
            let headers = head.headers.filter { $0.name.hasPrefix("x-") }.map { "\($0.name)=\($0.value)" }
            let text =
                "\(head.method) \(head.uri) \(headers.joined(separator: " ")) \(String(buffer: self.body))"
            self.send(context, .ok, [text], ["x-two": "b", "content-type": "text/plain"])
        }
    }

    /// Answers a call to a gateway with the hops of the call.
    private func answerAsGateway(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let hops = head.headers["waybill-hops"].joined(separator: ",")
        self.send(context, .ok, ["event: reply\ndata: \(hops)\n\n"], ["content-type": "text/event-stream"])
    }

    private func begin(
        _ context: ChannelHandlerContext,
        _ status: HTTPResponseStatus,
        _ headers: HTTPHeaders
    ) {
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
    }

    private func part(_ context: ChannelHandlerContext, _ text: String) {
        context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    }

    private func send(
        _ context: ChannelHandlerContext,
        _ status: HTTPResponseStatus,
        _ parts: [String],
        _ headers: HTTPHeaders = [:]
    ) {
        var headers = headers
        headers.add(name: "x-one", value: "a")
        headers.add(name: "x-one", value: "b")
        self.begin(context, status, headers)
        for part in parts {
            self.part(context, part)
            context.flush()
        }
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }
}
#endif
