#if Web
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

extension HTTPClientRequest {
    /// Creates the HTTP request for a message.
    ///
    /// - Throws: A `RoutingError`. Its code is `invalidURL` if the scheme is not http or https or the port is
    ///   invalid, `invalidParameter` if the method is invalid, and `notTransferable` if the body cannot be
    ///   encoded.
    init(_ message: Message) throws(RoutingError) {
        let address = message.address
        guard ["http", "https"].contains(address.scheme.lowercased()) else {
            throw RoutingError(
                .invalidURL,
                url: address.text,
                message:
                    "the web connector cannot deliver `\(address.scheme)` URLs: connect it to http and https only"
            )
        }
        let path = address.text.drop { $0 == "/" }
        let url = address.hasScheme ? address.text : "\(address.scheme)://\(path)"
        try self.init(to: url, for: address.text)
        let body = try Self.body(of: message)
        self.method = try Self.method(of: message) ?? (body == nil ? .GET : .POST)
        // The order key and the lifetime are for stores of Waybill only.
        let headers = message.headers.filter { !$0.key.hasPrefix("waybill-durable-") }
        self.headers = HTTPHeaders(headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        if body?.isJSON == true, !self.headers.contains(name: "Content-Type") {
            self.headers.add(name: "Content-Type", value: "application/json")
        }
        self.body = body.map { Body.bytes($0.bytes) }
    }

    private static func method(of message: Message) throws(RoutingError) -> HTTPMethod? {
        guard let value = message.parameters.call["method"] else { return nil }
        // Other characters, such as a line break, could end the line and begin a second request.
        guard let text = value as? String, !text.isEmpty,
            text.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else {
            throw RoutingError(
                .invalidParameter,
                url: message.address.text,
                message:
                    "`method` is not the name of a method in capital letters, such as \"PUT\": \("\(value)".onShortLine)"
            )
        }
        return HTTPMethod(rawValue: text)
    }

    /// Returns the body and whether it is JSON, or nil when the message has no body.
    private static func body(of message: Message) throws(RoutingError) -> (bytes: ByteBuffer, isJSON: Bool)? {
        guard let value = message.parameters.call["body"] ?? message.payload else { return nil }
        if let bytes = self.bytes(of: value) { return (bytes, false) }
        do throws(RoutingError) {
            return (ByteBuffer(bytes: try JSONWriter.encoded(value)), true)
        } catch {
            throw RoutingError(
                error.code,
                url: message.address.text,
                message: error.message,
                cause: error.cause
            )
        }
    }

    private static func bytes(of value: any Sendable) -> ByteBuffer? {
        switch value {
        case is Void: ByteBuffer()
        case let buffer as ByteBuffer: buffer
        case let text as String: ByteBuffer(string: text)
        case let bytes as any Sequence<UInt8>: ByteBuffer(bytes: Array(bytes))
        default: nil
        }
    }
}
#endif
