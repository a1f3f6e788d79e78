package import Waybill
internal import WaybillJSON
internal import WaybillRouting

extension Message {
    /// The published message in the form in which subscribers in other processes receive it.
    ///
    /// The text is a JSON object with `url` and `parameters`. The key `$waybill` contains the headers and the
    /// payload.
    package var publishedJSON: String {
        var writer = JSONWriter()
        writer.raw("{")
        writer.published(self, isFirst: true) { RPCFailure(wholly: $0) }
        writer.raw("}")
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension JSONWriter {
    /// Appends the members of a published message.
    ///
    /// `isFirst` tells whether the object has no members yet. If a value cannot be encoded, the failure that
    /// `failure` returns is written.
    mutating func published(
        _ message: Message,
        isFirst: Bool,
        failure: (RoutingError) -> RPCFailure
    ) {
        self.name("url", isFirst: isFirst)
        let url = message.address.text
        let isReadable = CombiningMarks.areFew(in: url)
        self.string(
            isReadable ? url : String(String.UnicodeScalarView(url.unicodeScalars.prefix { $0.isASCII }))
        )
        do throws(RoutingError) {
            var content = JSONWriter()
            content.name("parameters")
            try content.value(message.parameters.values)
            var attachment = RPCAttachment()
            attachment.headers = message.headers
            attachment.payload = try message.rawPayload.map { value throws(RoutingError) in
                try JSONText(encoding: value)
            }
            content.attachment(attachment, isFirst: false)
            guard isReadable, CombiningMarks.areFew(in: content.bytes.span) else {
                throw RoutingError(.notTransferable, message: CombiningMarks.excess)
            }
            self.raw(JSONText(content.bytes))
        } catch {
            self.name("error")
            self.failure(failure(error))
        }
    }
}

extension Parameters {
    /// All parameters by name: path and query parameters as text, and values of the call without conversion.
    fileprivate var values: [String: any Sendable] {
        var values: [String: any Sendable] = self.query
        for (name, value) in self.path { values[name] = value }
        values.merge(self.passedValues) { _, passed in passed }
        return values
    }
}
