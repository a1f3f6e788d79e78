import Testing
import WaybillJSON

/// Events of CloudEvents 1.0 in both encodings.
struct CloudEventTests {
    private let required = ["id": "A-1", "source": "/kettle", "type": "app.kettle.boiled"]

    private func headers(_ values: KeyValuePairs<String, String>) -> [(name: String, value: String)] {
        [("ce-specversion", "1.0"), ("ce-id", "A-1"), ("ce-source", "/kettle"), ("ce-type", "t")]
            + values.map { ($0.key, $0.value) }
    }

    private func event(_ values: KeyValuePairs<String, String>) throws -> CloudEvent {
        try CloudEvent(headers: self.headers(values), contentType: nil, body: [])
    }

    private func structured(_ members: String) throws -> CloudEvent {
        let required = "\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\""
        return try CloudEvent(structured: Array("{\(required)\(members)}".utf8))
    }

    @Test(arguments: [
        ("application/json", "{\"a\":[1,2.50,\"é\"]}"), ("application/json", "\"text\""),
        ("text/plain", "an \"é\"\n"), ("application/vnd.kettle+json; v=1", "false"), ("text/plain", ""),
        ("application/octet-stream", "\u{0}\u{1}"),
    ])
    func `an event is unchanged after the structured and the binary encoding`(
        type: String,
        data: String
    ) throws {
        var attributes = self.required
        attributes.merge(["subject": "é \"50 %\"", "datacontenttype": type, "tenant1": "x"]) { $1 }
        let event = try CloudEvent(attributes, data: data.isEmpty ? nil : Array(data.utf8))
        #expect(try CloudEvent(structured: event.structured) == event)
        let binary = try CloudEvent(headers: event.headers, contentType: type, body: event.data ?? [])
        #expect(binary == event)
    }

    @Test
    func `an event's data that are not text are Base64 in JSON`() throws {
        var attributes = self.required
        attributes["datacontenttype"] = "image/png"
        let event = try CloudEvent(attributes, data: [0xFF, 0x00, 0x80])
        #expect(String(decoding: event.structured, as: UTF8.self).contains("\"data_base64\":\"/wCA\""))
        #expect(try CloudEvent(structured: event.structured) == event)
        attributes["datacontenttype"] = "application/json"
        // Data that are declared as JSON but are not valid JSON are sent unchanged.
        let broken = try CloudEvent(attributes, data: Array("{".utf8))
        #expect(try CloudEvent(structured: broken.structured) == broken)
    }

    @Test
    func `an event's attributes can be numbers and Booleans, and null means absent`() throws {
        let event = try self.structured(",\"sequence\":7,\"sampled\":true,\"subject\":null,\"data\":7.0")
        #expect(event["sequence"] == "7" && event["sampled"] == "true" && event["subject"] == nil)
        #expect(event.data == Array("7.0".utf8) && event.contentType == "application/json")
        #expect(try self.structured(",\"data\":null").data == nil)
    }

    @Test(arguments: [
        ("", ""), ("%20", " "), ("Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀"), ("%41bc", "Abc"),
        ("%e2%82%ac", "€"),
        ("50%", "50%"), ("%zz%4", "%zz%4"), ("\"a \\\"b\\\\ %41\"", "a \"b\\ A"), ("\"", "\""),
    ])
    func `an event's headers are percent-decoded`(value: String, text: String) throws {
        #expect(try self.event(["CE-Note": value])["note"] == text)
    }

    @Test(arguments: ["%C0%A0", "%E0%80%A0", "%FF", "%ED%A0%80", "%E2%82", "a%80b", "%F8%88%80%80%80"])
    func `headers that are not UTF-8 are rejected, including overlong forms`(value: String) {
        #expect(throws: CloudEventError.invalidValue("note")) { try self.event(["ce-note": value]) }
    }

    @Test
    func `characters that a header cannot hold are percent-encoded`() throws {
        var attributes = self.required
        attributes["subject"] = " \"%~€\r\n\u{7F}😀"
        let event = try CloudEvent(attributes)
        let subject = event.headers.first { $0.name == "ce-subject" }?.value
        #expect(subject == "%20%22%25~%E2%82%AC%0D%0A%7F%F0%9F%98%80")
    }

    @Test
    func `the error of an invalid event contains the reason`() {
        func refused(_ text: String) -> CloudEventError? {
            do throws(CloudEventError) {
                _ = try CloudEvent(structured: Array(text.utf8))
                return nil
            } catch {
                return error
            }
        }
        #expect(refused("[]") == .notJSON(.notObject) && refused("{") == .notJSON(.malformed(at: 1)))
        #expect(refused("{\"id\":\"1\",\"source\":\"s\",\"type\":\"t\"}") == .missing("specversion"))
        #expect(refused("{\"specversion\":\"0.3\"}") == .otherVersion("0.3"))
        #expect(refused("{\"specversion\":\"1.0\",\"id\":\"\"}") == .missing("id"))
        #expect(refused("{\"specversion\":\"1.0\",\"Tenant\":\"\"}") == .invalidName("Tenant"))
        #expect(refused("{\"specversion\":\"1.0\",\"tenant\":{}}") == .invalidValue("tenant"))
        let both = "{\"specversion\":\"1.0\",\"data\":1,\"data_base64\":\"\"}"
        #expect(refused(both) == .dataTwice)
        #expect(refused("{\"specversion\":\"1.0\",\"data_base64\":\"!\"}") == .invalidValue("data_base64"))
    }

    @Test
    func `an event's attribute expirytime is its deadline`() throws {
        #expect(Timestamp.text(1_522_949_460.5) == "2018-04-05T17:31:00.500Z")
        #expect(Timestamp.seconds("2018-04-05t19:31:00.50+02:00") == 1_522_949_460.5)
        let ahead = try self.structured(",\"expirytime\":\"\(Timestamp.text(Timestamp.now + 3600))\"")
            .deadline
        #expect(ahead.map { $0 > .now + .seconds(3500) && $0 < .now + .seconds(3700) } == true)
        #expect(
            try self.structured(",\"expirytime\":\"2018-04-05T17:31:00Z\"").deadline.map { $0 < .now } == true
        )
        #expect(try self.structured(",\"expirytime\":\"soon\"").deadline == nil)
    }
}
