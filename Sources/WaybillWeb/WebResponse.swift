#if Web
internal import AsyncHTTPClient
internal import NIOHTTP1

/// The response of a web server.
public struct WebResponse: Sendable, Hashable {
    /// The status, such as 200.
    public var status: Int

    /// The headers, in the order in which they arrived.
    public var headers: WebHeaders

    /// The bytes of the body, or of one part of the body.
    public var body: [UInt8]

    /// Creates a response, for example in a test or in a middleware that replies to a message itself.
    public init(status: Int, headers: WebHeaders = WebHeaders(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The body as text.
    ///
    /// Invalid UTF-8 in the body is replaced by U+FFFD.
    public var text: String { String(decoding: self.body, as: UTF8.self) }

    /// Whether the status means success: 200 to 299.
    public var isSuccess: Bool { 200..<300 ~= self.status }

    /// Creates a response whose body has not been read.
    init(_ response: HTTPClientResponse) {
        self.init(
            status: Int(response.status.code),
            headers: WebHeaders(response.headers.map { WebHeaders.Field(name: $0.name, value: $0.value) })
        )
    }
}
#endif
