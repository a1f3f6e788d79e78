#if Configuration

import Foundation
import Testing
import Waybill
import WaybillConfiguration

@Suite
final class RouteConfigurationFilesTests {
    private let folder: URL

    init() throws {
        self.folder = FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: self.folder) }

    private func write(_ name: String, _ text: String) throws -> URL {
        let url = self.folder.appending(path: name)
        try Data(text.utf8).write(to: url)
        return url
    }

    private func lines(of configuration: RouteConfiguration) -> [String] {
        configuration.entries.map { "\($0.pattern) -> \($0.target) (\($0.source))" }
    }

    @Test
    func `a scheme's configuration file is found by its name`() throws {
        _ = try self.write("OrderConfig.json", #"{"an order": {"detail": "detail/<id>"}}"#)
        _ = try self.write("user.yaml", "actions:\n  home: home\n")
        _ = try self.write("order.txt", "not a configuration")
        #expect(
            try self.lines(of: RouteConfiguration(ofScheme: "Order", in: self.folder)) == [
                "order://detail/<id> -> detail (OrderConfig.json:1: `detail`)"
            ]
        )
        let error = #expect(throws: ConfigurationError.self) {
            try RouteConfiguration(ofScheme: "stock", in: self.folder)
        }
        #expect(error?.message.contains("StockConfig.plist") == true)
    }

    @Test
    func `a flat file can have paths with the names of sections`() throws {
        let url = try self.write(
            "flat.json",
            #"{"actions": "List", "scheme": "Main", "destinations": "Map", "x": "Y"}"#
        )
        let configuration = try RouteConfiguration(contentsOf: url)
        #expect(
            configuration.entries.map { "\($0.pattern) -> \($0.target)" }.sorted()
                == ["actions -> List", "destinations -> Map", "scheme -> Main", "x -> Y"]
        )
    }

    @Test(arguments: ["destination:", "Destinations:", "routes:"])
    func `a path below an unknown section is an error that names the section`(section: String) throws {
        let url = try self.write("catalog.yaml", "\(section)\n  app://p/:id: Catalog.product\n")
        let error = #expect(throws: ConfigurationError.self) { try RouteConfiguration(contentsOf: url) }
        #expect(error?.message.hasPrefix("`\(section.dropLast())` is not a section") == true)
    }

    @Test
    func `YAML can have sections, and one or several patterns for an action`() throws {
        let url = try self.write(
            "order.yaml",
            """
            actions:
              detail: "detail/:id"
              place:
                - place
                - app://checkout
            destinations:
              app://start: Catalog.featured
            """
        )
        #expect(
            try self.lines(of: RouteConfiguration(contentsOf: url)) == [
                "order://detail/:id -> detail (order.yaml:2: `detail`)",
                "order://place -> place (order.yaml:4: `place`)",
                "app://checkout -> place (order.yaml:5: `place`)",
                "app://start -> Catalog.featured (order.yaml:7: `app://start`)",
            ]
        )
    }

    @Test
    func `a pattern has a scheme if a scheme, a colon and a slash begin it`() throws {
        let url = try self.write(
            "order.yaml",
            """
            actions:
              feed: app:/feed/:id
              host: host:8080/x
              back: open?next=app://home
            """
        )
        #expect(
            try RouteConfiguration(contentsOf: url).entries.map(\.pattern) == [
                "app:/feed/:id", "order://host:8080/x", "order://open?next=app://home",
            ]
        )
        let other = try self.write("user_profile.yaml", "actions:\n  home: home\n")
        let error = #expect(throws: ConfigurationError.self) { try RouteConfiguration(contentsOf: other) }
        #expect(error?.message.contains("`user_profile` is not a scheme") == true)
    }

    @Test
    func `JSON can be an ordered list of actions, or only destinations`() throws {
        let actions = try self.write(
            "https.json",
            """
            [
            \t{ "gotoDetail": ["z.com/<id>/", "y.com/<id>/"] },
            \t{ "ask": "x.com\\/ask" }
            ]
            """
        )
        #expect(
            try self.lines(of: RouteConfiguration(contentsOf: actions)) == [
                "https://z.com/<id>/ -> gotoDetail (https.json:2: `gotoDetail`)",
                "https://y.com/<id>/ -> gotoDetail (https.json:2: `gotoDetail`)",
                "https://x.com/ask -> ask (https.json:3: `ask`)",
            ]
        )
        let destinations = try self.write("routes.json", #"{ "user/profile": "Profile" }"#)
        #expect(
            try self.lines(of: RouteConfiguration(contentsOf: destinations)) == [
                "user/profile -> Profile (routes.json:1: `user/profile`)"
            ]
        )
    }

    @Test
    func `actions can stand below descriptions, in a file named for its scheme`() throws {
        let url = try self.write(
            "HttpsConfig.json",
            """
            {
              "the detail of an order": { "gotoDetail": ["z.com/<id>/", "y.com/<id>/"] },
              "questions": {
                "ask": "x.com/ask",
                "answer": "x.com/answer"
              }
            }
            """
        )
        #expect(
            try self.lines(of: RouteConfiguration(contentsOf: url)) == [
                "https://z.com/<id>/ -> gotoDetail (HttpsConfig.json:2: `gotoDetail`)",
                "https://y.com/<id>/ -> gotoDetail (HttpsConfig.json:2: `gotoDetail`)",
                "https://x.com/ask -> ask (HttpsConfig.json:4: `ask`)",
                "https://x.com/answer -> answer (HttpsConfig.json:5: `answer`)",
            ]
        )
        let list = try self.write(
            "OrderConfig.plist",
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
              <key>an order</key><dict><key>detail</key><string>detail/&lt;id&gt;</string></dict>
            </dict></plist>
            """
        )
        #expect(
            try self.lines(of: RouteConfiguration(contentsOf: list)) == [
                "order://detail/<id> -> detail (OrderConfig.plist:3: `detail`)"
            ]
        )
        let plain = try self.write("Config.yaml", "- { one: one }")
        #expect(try RouteConfiguration(contentsOf: plain).entries.map(\.pattern) == ["Config://one"])
    }

    @Test
    func `a property list gives the same configuration as the other formats`() throws {
        let url = try self.write(
            "order.plist",
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
              <key>scheme</key><string>shop</string>
              <key>actions</key><dict>
                <key>place</key><array><string>place</string><string>checkout</string></array>
                <key>detail</key><string>detail/&lt;id&gt;</string>
              </dict>
            </dict></plist>
            """
        )
        #expect(
            try self.lines(of: RouteConfiguration(contentsOf: url)) == [
                "shop://place -> place (order.plist:5: `place`)",
                "shop://checkout -> place (order.plist:5: `place`)",
                "shop://detail/<id> -> detail (order.plist:6: `detail`)",
            ]
        )
    }

    @Test
    func `the lines of a property list are counted in a file with the line breaks of Windows`() throws {
        let text = [
            "<?xml version=\"1.0\"?>", "<plist><dict>", "<key>a</key><string>a</string>", "</dict></plist>",
        ]
        let url = try self.write("order.plist", text.joined(separator: "\r\n"))
        let lines = self.lines(of: try RouteConfiguration(contentsOf: url))
        #expect(lines == ["a -> a (order.plist:3: `a`)"])
    }

    @Test
    func `a folder is read as one file for each scheme`() async throws {
        _ = try self.write("b.yaml", "- { two: two }")
        _ = try self.write("a.json", #"[{ "one": "one" }]"#)
        _ = try self.write("notes.txt", "nothing")
        let inner = self.folder.appending(path: "old.yaml")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        let configuration = try RouteConfiguration(contentsOf: self.folder)
        #expect(configuration.entries.map(\.pattern) == ["a://one", "b://two"])
    }

    @Test(arguments: [
        (
            "x.json", "{ \"actions\": {\n \"a\": 1e3,\n \"b\": {} } }",
            "x.json:3: `b`: an action must have a pattern"
        ),
        ("x.json", "{ \"a\": \"b\",\n", "x.json:2: "),
        ("x.json", "[1]", "x.json:1: each entry of the list must be a map"),
        ("x.json", "\"a\"", "x.json:1: the file must contain a map"),
        ("x.json", "", "x.json: the file is empty"),
        ("x.yaml", "actions:\n  a: b\nroutes: {}", "x.yaml:3: `routes`: this section is unknown"),
        ("x.yaml", "a: b\na: c", "x.yaml:"),
        ("x.yaml", "actions: {a: [[b]]}", "x.yaml:1: `a`: a pattern must be text"),
        ("x.yaml", "destinations:\n  a: ''", "x.yaml:2: `a`: a destination must have a name"),
        ("x.yaml", "actions: [[[[[[[[[[a]]]]]]]]]]", "x.yaml:1: the file is nested too deeply"),
        ("x.plist", "<plist>", "x.plist: the file is not a property list"),
        (
            "x.plist", "<?xml version=\"1.0\"?><plist><integer>1</integer></plist>",
            "x.plist: the file must contain a map"
        ),
        ("x.txt", "", "x.txt: the name must end in"),
    ])
    func `a configuration error contains the file, the line and the key`(
        name: String,
        text: String,
        beginning: String
    ) throws {
        let url = try self.write(name, text)
        let error = #expect(throws: ConfigurationError.self) { try RouteConfiguration(contentsOf: url) }
        #expect(error.map { "\($0)".hasPrefix(beginning) } == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test
    func `a missing or too large configuration file is an error`() throws {
        let missing = self.folder.appending(path: "missing.json")
        let error = #expect(throws: ConfigurationError.self) { try RouteConfiguration(contentsOf: missing) }
        #expect(error?.message == "there is no such file")
        let large = try self.write(
            "large.yaml",
            String(repeating: "#", count: RouteConfiguration.maximumFileSize + 1)
        )
        #expect(throws: ConfigurationError.self) { try RouteConfiguration(contentsOf: large) }
    }

    @Test
    func `loading a configuration reports an invalid pattern with its file`() throws {
        let url = try self.write("order.yaml", "actions:\n  a: a\n  b: 'b/(/'\n")
        let bus = MessageBus()
        let error = #expect(throws: ConfigurationError.self) {
            try bus.load(RouteConfiguration(contentsOf: url))
        }
        #expect(error?.source.line == 3)
        #expect(bus.routes.isEmpty)
    }

    @Test(arguments: ["", "? *e : x\n", "f: {? *e : x}\n"])
    func `aliases cannot expand a small file to more values than the limit`(last: String) throws {
        // The limit on aliases stops files with more of them, also in keys, which the parser compares.
        for (count, problem) in [(40, "more than 32 aliases"), (7, "more than 100000 values")] {
            var text = "a: &a [\(Array(repeating: "x", count: 100).joined(separator: ","))]\n"
            for (previous, name) in zip("abcd", "bcde") {
                let aliases = Array(repeating: "*\(previous)", count: count).joined(separator: ",")
                text += "\(name): &\(name) [\(aliases)]\n"
            }
            let url = try self.write("bomb.yaml", text + last)
            let error = #expect(throws: ConfigurationError.self) { try RouteConfiguration(contentsOf: url) }
            #expect(error?.message.contains(problem) == true, "\(error?.message ?? "none")")
        }
    }

    @Test func `a small binary property list cannot have more values than the limit`() throws {
        // Each of three arrays has 200 references to the next array, and the last array to a string.
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for next in UInt8(1)...3 {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
            bytes += [0xAF, 0x10, 200] + Array(repeating: next, count: 200)
        }
        offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
        bytes += [0x51, UInt8(ascii: "a")]
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [4, 0, table] { bytes += (0..<8).map { UInt8(number >> (56 - 8 * $0) & 255) } }
        let url = self.folder.appending(path: "bomb.plist")
        try Data(bytes).write(to: url)
        let error = #expect(throws: ConfigurationError.self) { try RouteConfiguration(contentsOf: url) }
        #expect(error?.message.contains("more than 100000 values") == true, "\(error?.message ?? "none")")
    }

    @Test(arguments: [#"{"user": null}"#, "user:\n", "user: ~\n", "scheme:\nactions:\n  detail: x\n"])
    func `null is not a name`(text: String) throws {
        let url = try self.write("order.yaml", text)
        #expect(throws: ConfigurationError.self) { try RouteConfiguration(contentsOf: url) }
    }

    @Test(arguments: [101, 10_000])
    func `a deeply nested property list is an error`(depth: Int) throws {
        let arrays = String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
        let url = try self.write("a.plist", "<?xml version=\"1.0\"?><plist version=\"1.0\">\(arrays)</plist>")
        let error = #expect(throws: ConfigurationError.self) { try RouteConfiguration(contentsOf: url) }
        #expect(error?.message.contains("nested too deeply") == true, "\(error?.message ?? "none")")
    }

    @Test(arguments: [
        "<array><!--</array>-->", "<array </array>", "<?</array>?><array>", "<dict </dict>",
    ])
    func `comments and other text cannot hide the depth of a property list`(nesting: String) throws {
        let arrays = String(repeating: nesting, count: 30_000)
        let url = try self.write("a.plist", "<?xml version=\"1.0\"?><plist version=\"1.0\">\(arrays)</plist>")
        let error = #expect(throws: ConfigurationError.self) { try RouteConfiguration(contentsOf: url) }
        #expect(error?.message.contains("remove the comments") == true, "\(error?.message ?? "none")")
    }

    @Test func `a symbolic link to a folder is read like the folder`() throws {
        _ = try self.write("order.yaml", "a: b\n")
        let link = self.folder.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: self.folder)
        #expect(try RouteConfiguration(contentsOf: link).entries.count == 1)
    }
}

#endif
