internal import Waybill
internal import WaybillRouting

/// One recorded case of COCRouter: its tables and controllers, a URL that is forwarded, and how that ended.
struct RecordedForwards: Decodable {
    /// A pattern or a list of them.
    enum Patterns: Decodable {
        case one(String)
        case several([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let pattern = try? container.decode(String.self) {
                self = .one(pattern)
            } else {
                self = .several(try container.decode([String].self))
            }
        }

        var all: [String] {
            switch self {
            case .one(let pattern): [pattern]
            case .several(let patterns): patterns
            }
        }
    }

    /// What was forwarded before the case: a URL, or a call by convention.
    struct Earlier: Decodable {
        let url: String
        let convention: String?

        private enum CodingKeys: CodingKey { case url, convention }

        init(from decoder: any Decoder) throws {
            if let url = try? decoder.singleValueContainer().decode(String.self) {
                self.url = url
                self.convention = nil
                return
            }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.url = try container.decode(String.self, forKey: .url)
            self.convention = try container.decodeIfPresent(String.self, forKey: .convention)
        }
    }

    struct Config: Decodable {
        let tables: [String: [[String: Patterns]]]?
        let controllers: [String: [String]]?
        let navigation: [String: String]?
        let warm: [Earlier]?
    }

    /// The mode that a completion was given, or `none` if it never came.
    enum Completion: Decodable, Equatable {
        case mode(Int)
        case never

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let mode = try? container.decode(Int.self) { self = .mode(mode) } else { self = .never }
        }
    }

    struct Expectation: Decodable {
        let params: [String: String]
        let complete: Completion
        let filter: Int?
        let called: String?
        let navTarget: String?
        let arg0: String?
        let path: [String: String]?
        let query: [String: String]?
    }

    let id: String
    let op: String
    let config: Config
    let url: String
    let convention: String?
    let args: [String]?
    let expect: Expectation

    /// What became of a URL.
    struct Answer: Equatable, CustomStringConvertible {
        var called: String?
        var arg0: String?
        var params: [String: String] = [:]
        var path: [String: String] = [:]
        var query: [String: String] = [:]
        var complete: Int
        var filter: Int?

        var description: String {
            "\(self.called ?? "nothing")(\(self.arg0 ?? "")) \(self.params) path=\(self.path) query=\(self.query)"
                + " complete=\(self.complete) filter=\(self.filter.map(String.init) ?? "nothing")"
        }
    }

    /// What the bus has to say.
    ///
    /// A completion that never came, for an action without arguments, is a defect of the original: the action was called, and
    /// here whoever forwards a URL is told so, with 200.
    var expected: Answer {
        let complete = if case .mode(let mode) = self.expect.complete { mode } else { 200 }
        return Answer(
            called: self.expect.called ?? self.expect.navTarget,
            arg0: self.expect.arg0,
            params: self.expect.params,
            path: self.expect.path ?? [:],
            query: self.expect.query ?? [:],
            complete: complete,
            filter: self.expect.filter
        )
    }
}
