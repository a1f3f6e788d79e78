internal import Waybill
internal import WaybillRouting

/// Generates correct and wrong URLs for the routes of a module.
struct RouteSamples {
    private var values: ValueSamples
    private let test: ModuleTestCase

    init(seed: UInt64, _ test: ModuleTestCase) {
        self.values = ValueSamples(generator: SeededGenerator(seed: seed))
        self.test = test
    }

    /// Returns the parameters that a route requires, and whose values cannot be generated.
    func unknown(of route: SampledRoute) -> [RouteDescription.Parameter] {
        self.ungiven(of: route).filter { $0.isRequired || route.named.contains($0.name) }
    }

    /// Returns an array parameter whose absence possibly made a call of the route fail.
    ///
    /// If the elements are decoded from text, the array is optional. If the elements are structures, the
    /// array is required. The type's text in the route's description does not show the difference, so only a
    /// failed call shows it.
    func missingArray(of route: SampledRoute) -> RouteDescription.Parameter? {
        self.ungiven(of: route).first { $0.defaultValue == nil && $0.type.hasSuffix("]") }
    }

    private func ungiven(of route: SampledRoute) -> [RouteDescription.Parameter] {
        route.description.parameters.filter { parameter in
            self.test.values[parameter.name] == nil && self.test.arguments[parameter.name] == nil
                && !ValueSamples.knows(parameter.type)
        }
    }

    /// Returns a URL that the route should accept; throws an error if a given value is not valid in the path.
    mutating func rightURL(of route: SampledRoute) throws(RoutingError) -> String {
        let example = route.pattern.example(using: &self.values.generator)
        let path = self.path(of: example, in: route)
        var texts = path ?? [:]
        for name in texts.keys.sorted() where !route.isConstrained(name) {
            guard let type = route.type(of: name) else { continue }
            texts[name] = self.values.text(of: type) ?? texts[name]
        }
        for parameter in route.description.parameters
        where !route.named.contains(parameter.name) && parameter.isRequired
            && self.test.arguments[parameter.name] == nil
        {
            texts[parameter.name] = self.values.text(of: parameter.type)
        }
        // A URL gets only the given values that the route declares. A closure does not declare query
        // parameters, so a URL for a closure gets all given values.
        let isPlain = route.description.action == nil
        let declared = Set(route.description.parameters.map(\.name))
        for (name, value) in self.test.values where isPlain || declared.contains(name) { texts[name] = value }
        if path != nil { return try route.pattern.url(with: texts) }
        // A pattern with unnamed parts cannot create a URL from values.
        return Self.url(example, query: texts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// Returns wrong URLs for the route.
    mutating func wrongURLs(of route: SampledRoute) -> [String] {
        let example = route.pattern.example(using: &self.values.generator)
        let hostile = self.hostile()
        let named = route.description.parameters.map(\.name).filter { !route.named.contains($0) }
        var urls = [
            example,
            Self.url(example, query: named.map { ($0, hostile) }),
            Self.url(example, query: named.map { ($0, "") }),
            Self.url(example, query: named + named, value: "1"),
            "\(example)?\(hostile)",
        ]
        // The hostile text also replaces the values in the path that the pattern does not restrict.
        if var texts = self.path(of: example, in: route), !texts.isEmpty {
            for name in texts.keys.sorted() where !route.isConstrained(name) { texts[name] = hostile }
            if let url = try? route.pattern.url(with: texts) { urls.append(url) }
        }
        return urls
    }

    /// Returns random URLs of the scheme.
    mutating func randomURLs() -> [String] {
        let segments = (0..<Int.random(in: 0...6, using: &self.values.generator)).map { _ in
            self.values.word()
        }
        let path = segments.joined(separator: "/")
        return [
            "\(self.test.scheme)://\(path)",
            "\(self.test.scheme)://\(path)/\(Self.encode(self.hostile()))?\(Self.encode(self.hostile()))",
            "\(self.test.scheme)://\(self.garbage())",
        ]
    }

    /// Returns the parameters in the path of a URL; nil if the pattern has parts without a name.
    private func path(of url: String, in route: SampledRoute) -> [String: String]? {
        guard route.pattern.canBePrinted,
            let table = try? self.test.bus.configuration.scope(of: route.pattern.text)
        else { return nil }
        return (try? table.match(url))?.parameters.path
    }

    private mutating func hostile() -> String {
        let texts = [
            "", " ", "..", "%00", "\u{0}", "\u{7f}", "\n\r", "null", "-1", "NaN", "1e999", "true; drop",
            "9223372036854775808", "-9223372036854775809", "0x10", "' or 1=1 --", "<script>",
            "../../etc/passwd",
            "\u{202e}tfel", "e\u{301}\u{301}\u{301}", "\u{1F469}\u{200D}\u{1F680}", "\u{FEFF}",
            String(repeating: "a", count: 2000),
        ]
        return texts.randomElement(using: &self.values.generator) ?? ""
    }

    /// Returns text of random bytes without `#`, because a fragment might lead to another module.
    private mutating func garbage() -> String {
        let count = Int.random(in: 0...40, using: &self.values.generator)
        let bytes = (0..<count).map { _ in UInt8.random(in: 1...255, using: &self.values.generator) }
        return String(decoding: bytes.filter { $0 != UInt8(ascii: "#") }, as: UTF8.self)
    }

    private static func url(_ url: String, query names: [String], value: String) -> String {
        self.url(url, query: names.map { ($0, value) })
    }

    private static func url(_ url: String, query: [(String, String)]) -> String {
        guard !query.isEmpty else { return url }
        return url + "?" + query.map { "\(self.encode($0))=\(self.encode($1))" }.joined(separator: "&")
    }

    private static func encode(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }
    }
}
