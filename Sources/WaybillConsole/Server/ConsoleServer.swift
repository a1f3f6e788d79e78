#if HTTP
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Waybill
internal import WaybillDocuments
internal import WaybillEventLoop
internal import WaybillHTTP
internal import WaybillJSON
internal import WaybillRouting

/// The server of the page and its API.
struct ConsoleServer: Sendable {
    let core: ConsoleCore
    private let streams: EventStreams

    /// All HTTP methods.
    ///
    /// The server registers all of them, so that an unsupported method is rejected as such and not as an
    /// unknown path.
    static var methods: [HTTPRequest.Method] {
        [.get, .post, .put, .patch, .delete, .head, .options, .trace, .connect]
            + [HTTPRequest.Method("QUERY")].compactMap(\.self)
    }

    /// The maximum size of a body, in bytes.
    private static let bodyLimit = 1 << 20
    /// The maximum size of the form with the token, in bytes.
    ///
    /// Anybody can send this form.
    private static let signInLimit = 4096

    init(_ core: ConsoleCore) {
        self.core = core
        self.streams = EventStreams(
            limit: RecorderState.readerLimit,
            heartbeat: .seconds(15),
            isHTTP2: core.configuration.isHTTP2
        )
    }

    /// Returns the response to a request, with the headers that protect the page.
    ///
    /// `path` contains the segments below the path of the console.
    func respond(to request: Request, _ path: [Substring]) async -> Response {
        var response: Response
        do {
            let path = path.joined(separator: "/")
            // The console's own paths are ASCII. A path with other characters is therefore rejected before it
            // is compared with the console's paths.
            guard path.utf8.allSatisfy({ $0 < 0x80 }) else { throw Self.unknownPage }
            try self.core.gate.check(request, isForm: path == "session")
            response = try await self.answer(request, path)
        } catch let problem as Problem {
            response = problem.response
        } catch {
            self.core.configuration.logger.error("console request failed", metadata: ["error": "\(error)"])
            response = Problem(.internalServerError, "the request failed").response
        }
        ConsoleGate.protect(&response)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(_ request: Request, _ path: String) async throws -> Response {
        if let file = PageFiles.assets[path] {
            try Self.require(.get, request)
            return Self.response(file)
        }
        switch path {
        case "":
            try Self.require(.get, request)
            return try self.page(request)
        case "session":
            try Self.require(.post, request)
            let form = try await Self.body(of: request, upTo: Self.signInLimit)
            return self.signIn(with: Self.token(in: form), Self.mount(of: request, behind: path), page: "./")
        default:
            guard self.core.gate.admits(request) else {
                throw Problem(
                    .unauthorized,
                    "open the link that the program has printed, or sign in with its token"
                )
            }
            return try await self.api(request, path)
        }
    }

    private func page(_ request: Request) throws(Problem) -> Response {
        // The page contains relative URLs, so the URL of the page itself must end in a slash.
        let isPage = request.uri.path.hasSuffix("/")
        let page = isPage ? "./" : "\(request.uri.path.split(separator: "/").last ?? "")/"
        if let token = try Self.query(of: request)["token"] {
            return self.signIn(with: token, Self.mount(of: request, behind: ""), page: page)
        }
        guard isPage else { return Response(status: .permanentRedirect, headers: [.location: page]) }
        return self.core.gate.admits(request)
            ? Self.response(PageFiles.index) : Self.response(PageFiles.signIn, .unauthorized)
    }

    private func signIn(with token: String?, _ mount: String, page: String) -> Response {
        guard let token, self.core.gate.accepts(token) else {
            return Self.response(PageFiles.signIn, .unauthorized)
        }
        return self.core.gate.admission(below: mount, page: page)
    }

    private func api(_ request: Request, _ path: String) async throws -> Response {
        let parameters = try Self.query(of: request)
        switch path {
        case "api/about", "api/routes", "api/nodes", "api/deadletters", "api/explain", "api/stream",
            "api/stores":
            try Self.require(.get, request)
        case "api/call", "api/deadletters/replay":
            try Self.require(.post, request)
            try self.core.gate.checkAct(request)
            guard self.core.configuration.allowsActions else {
                throw Problem(
                    .forbidden,
                    "the console is read-only: the option `allowsActions` permits actions"
                )
            }
        default: break
        }
        switch path {
        case "api/about": return Response(json: self.core.about)
        case "api/routes": return Response(json: self.core.routeList(await self.core.document.current))
        case "api/nodes": return Response(json: self.core.nodes)
        case "api/deadletters": return Response(json: self.core.deadLetters)
        case "api/stores": return Response(json: await self.core.stores)
        case "api/explain":
            guard let url = parameters["url"] else { throw Problem(.badRequest, "`url` is missing") }
            return Response(json: self.core.explanation(of: url))
        case "api/stream":
            let rows = parameters["rows"].flatMap { Int($0) } ?? 200
            return try await self.stream(request, pattern: parameters["pattern"], rows: rows)
        case "api/call": return Response(json: try await self.core.call(try await Self.json(of: request)))
        case "api/deadletters/replay":
            return Response(json: try await self.core.replay(try await Self.json(of: request)))
        default:
            guard path.hasPrefix("api/flows/") else { throw Self.unknownPage }
            try Self.require(.get, request)
            return Response(json: try self.flow(path.dropFirst("api/flows/".count)))
        }
    }

    private func flow(_ id: Substring) throws(Problem) -> [UInt8] {
        guard let number = UInt64(id, radix: 16) else {
            throw Problem(.badRequest, "the text in the path is not the ID of a message")
        }
        let flow = self.core.recorder.state.withLock { $0.flow(of: CorrelationID(rawValue: number)) }
        guard let diagram = flow.flatMap({ FlowDiagram($0) }) else {
            throw Problem(.notFound, "the console does not keep this message, or no longer keeps it")
        }
        return diagram.json
    }

    /// Returns a table that has only the pattern of a page; nil if the pattern is empty.
    private func scope(of pattern: String) throws(Problem) -> RouteTable<Void>? {
        if pattern.isEmpty { return nil }
        let configuration = self.core.bus.configuration
        var table = configuration.table(of: Void.self)
        do throws(RoutingError) {
            // Every message of the bus is compared with the pattern, so the limits for peers apply.
            _ = try table.insert(configuration.peerPattern(pattern), ())
            return table
        } catch {
            throw Problem(.badRequest, error.message)
        }
    }

    private func stream(_ request: Request, pattern: String?, rows: Int) async throws -> Response {
        let (core, scope) = (self.core, try self.scope(of: pattern ?? ""))
        return try await self.streams.response(toGet: request) { sink in
            core.watch.begin()
            defer { core.watch.end() }
            guard let reader = core.recorder.state.withLock({ $0.addReader(scope) }) else { return }
            defer { core.recorder.state.withLock { $0.removeReader(reader) } }
            await SnapshotStream(
                recorder: core.recorder,
                board: core.board,
                letters: core.letters,
                reader: reader,
                rows: min(max(rows, 1), 1000),
                interval: .seconds(1) / max(1, core.configuration.updatesPerSecond)
            ).run(sink)
        }
    }
}

extension ConsoleServer {
    private static let unknownPage = Problem(.notFound, "this page does not exist")

    private static func query(of request: Request) throws(Problem) -> FormItems {
        try FormItems(Array((request.uri.query ?? "").utf8))
    }

    private static func require(_ method: HTTPRequest.Method, _ request: Request) throws(Problem) {
        guard request.method != method else { return }
        throw Problem(.methodNotAllowed, "use \(method.rawValue)", allowing: method.rawValue)
    }

    private static func body(of request: Request, upTo limit: Int) async throws -> ByteBuffer {
        try await request.collectingBody(upTo: limit, within: .seconds(10)).1
    }

    private static func json(of request: Request) async throws -> JSONText {
        let body = try await self.body(of: request, upTo: self.bodyLimit)
        guard let text = try? JSONText(validating: Array(body.readableBytesView)), text.shape == .object
        else {
            throw Problem(.badRequest, "the body is not a JSON object")
        }
        return text
    }

    /// Returns the field `token` of a form.
    private static func token(in form: ByteBuffer) -> String? {
        form.readableBytesView.split(separator: UInt8(ascii: "&")).first { $0.starts(with: "token=".utf8) }
            .map { PercentEscapes.decoded(Array($0.dropFirst("token=".utf8.count))[...]) }
    }

    private static func response(_ file: PageFiles.File, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: file.type],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.content))
        )
    }

    /// Returns the path of the console.
    ///
    /// This is the path of the request without `path` at its end, and with a final slash.
    private static func mount(of request: Request, behind path: String) -> String {
        let whole = request.uri.path
        let mount = whole.hasSuffix(path) ? whole.dropLast(path.count) : whole[...]
        return mount.hasSuffix("/") ? String(mount) : "\(mount)/"
    }
}
#endif
