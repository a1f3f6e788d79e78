#if Configuration

internal import Foundation
internal import WaybillRouting
internal import Yams

/// Reads YAML and JSON.
struct YAMLReader {
    let file: String
    /// The number of values that have been read.
    private var count = 0

    /// The maximum number of values in a file.
    ///
    /// The values of an alias count each time the alias is used, so that a small file cannot take much time.
    private static let limit = 100_000

    /// The maximum number of aliases in a file.
    ///
    /// The parser compares the keys of a map. If a key contains aliases of aliases, this takes a time that
    /// grows exponentially with the number of aliases.
    private static let aliasLimit = 32

    init(file: String) { self.file = file }

    /// The number of words in a text that begin like an alias, such as `*name`.
    private static func aliasCount(in text: String) -> Int {
        var count = 0
        // An alias begins after a space or an indicator. `app://**` contains no alias.
        var (isStart, isStar) = (true, false)
        for byte in text.utf8 {
            if isStar, byte > 32, byte != UInt8(ascii: "*") { count += 1 }
            isStar = isStart && byte == UInt8(ascii: "*")
            isStart = byte <= 32 || "[]{},:?-".utf8.contains(byte)
        }
        return count
    }

    mutating func node(_ data: Data) throws(ConfigurationError) -> ConfigurationNode {
        guard let text = String(data: data, encoding: .utf8) else {
            throw ConfigurationError(.init(file: self.file), "the file is not UTF-8")
        }
        guard Self.aliasCount(in: text) <= Self.aliasLimit else {
            throw ConfigurationError(
                .init(file: self.file),
                "the file has more than \(Self.aliasLimit) aliases: write the values instead"
            )
        }
        do {
            guard let node = try Yams.compose(yaml: text) else {
                throw ConfigurationError(.init(file: self.file), "the file is empty")
            }
            return try self.convert(node, depth: 0)
        } catch let error as ConfigurationError {
            throw error
        } catch let error as YamlError {
            throw self.convert(error)
        } catch {
            throw ConfigurationError(.init(file: self.file), "the file cannot be read: \(error)")
        }
    }

    private mutating func convert(_ node: Node, depth: Int, line: Int? = nil) throws -> ConfigurationNode {
        let line = line ?? node.mark?.line
        self.count += 1
        guard self.count <= Self.limit else {
            throw ConfigurationError(
                .init(file: self.file, line: line),
                "the file has more than \(Self.limit) values, including the values that aliases repeat"
            )
        }
        guard depth < 8 else {
            throw ConfigurationError(.init(file: self.file, line: line), "the file is nested too deeply")
        }
        switch node {
        case .scalar(let scalar) where scalar.style == .plain && node.null != nil:
            return ConfigurationNode(value: .other("null"), line: line)
        case .scalar(let scalar):
            return ConfigurationNode(value: .text(scalar.string), line: line)
        case .sequence(let sequence):
            return ConfigurationNode(
                value: .list(try sequence.map { try self.convert($0, depth: depth + 1) }),
                line: line
            )
        case .mapping(let mapping):
            let pairs = try mapping.map { key, value in
                guard let name = key.scalar?.string else {
                    throw ConfigurationError(
                        .init(file: self.file, line: key.mark?.line),
                        "a key must be text"
                    )
                }
                return (key: name, value: try self.convert(value, depth: depth + 1, line: key.mark?.line))
            }
            return ConfigurationNode(value: .map(pairs), line: line)
        case .alias:
            return ConfigurationNode(value: .other("an alias"), line: line)
        }
    }

    private func convert(_ error: YamlError) -> ConfigurationError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            ConfigurationError(.init(file: self.file, line: mark.line), problem)
        case .duplicatedKeysInMapping(let duplicates, let context):
            ConfigurationError(
                .init(file: self.file, line: context.mark.line, key: "\(duplicates.first ?? "")"),
                "the key occurs twice"
            )
        default:
            ConfigurationError(.init(file: self.file), "the file cannot be read: \(error)")
        }
    }
}

#endif
