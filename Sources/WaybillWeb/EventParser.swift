#if Web
internal import Waybill
internal import WaybillRouting

/// Splits the body of a response into server-sent events.
struct EventParser {
    struct Event {
        let name: String
        let id: String
        let data: [UInt8]
    }

    private let limit: Int
    /// The bytes of the line that has not ended.
    private var line: [UInt8] = []
    private var name = ""
    private var id = ""
    private var data: [UInt8] = []

    init(limit: Int) { self.limit = limit }

    /// Returns the events whose last byte is in a part of the body.
    mutating func parse(_ part: some Sequence<UInt8>) throws(RoutingError) -> [Event] {
        var events: [Event] = []
        for byte in part {
            if byte != UInt8(ascii: "\n") {
                guard self.line.count + self.data.count < self.limit else {
                    throw RoutingError.refused("an event of the gateway has more than \(self.limit) bytes")
                }
                self.line.append(byte)
            } else if let event = self.endLine() {
                events.append(event)
            }
        }
        return events
    }

    /// Handles the end of a line, and returns the event that ends with an empty line.
    private mutating func endLine() -> Event? {
        defer { self.line.removeAll(keepingCapacity: true) }
        if self.line.isEmpty {
            defer { (self.name, self.id, self.data) = ("", "", []) }
            return self.name.isEmpty ? nil : Event(name: self.name, id: self.id, data: self.data)
        }
        if self.line.starts(with: "event: ".utf8) {
            self.name = String(decoding: self.line.dropFirst(7), as: UTF8.self)
        } else if self.line.starts(with: "id: ".utf8) {
            self.id = String(decoding: self.line.dropFirst(4), as: UTF8.self)
        } else if self.line.starts(with: "data: ".utf8) {
            if !self.data.isEmpty { self.data.append(UInt8(ascii: "\n")) }
            self.data += self.line.dropFirst(6)
        }
        return nil
    }
}
#endif
