#if Web
internal import AsyncHTTPClient
internal import NIOHTTP1

/// What a web server answered.
public struct WebResponse: Sendable, Hashable {
    /// The status: 200, for example.
    public var status: Int

    /// The headers, in the order that they came in.
    public var headers: WebHeaders

    /// The bytes of the body, or of one part of it.
    public var body: [UInt8]

    /// Makes a response, as a test or a middleware that answers may need.
    public init(status: Int, headers: WebHeaders = WebHeaders(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The body as text; what is not UTF-8 in it is replaced.
    public var text: String { String(decoding: self.body, as: UTF8.self) }

    /// Whether the status says that it went well: 200 to 299.
    public var isSuccess: Bool { 200..<300 ~= self.status }

    /// A response whose body has not been read.
    init(_ response: HTTPClientResponse) {
        self.init(
            status: Int(response.status.code),
            headers: WebHeaders(response.headers.map { WebHeaders.Field(name: $0.name, value: $0.value) })
        )
    }
}
#endif
