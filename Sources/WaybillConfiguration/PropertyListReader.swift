#if Configuration

internal import Foundation
internal import Synchronization
internal import WaybillRouting

/// Reads property lists, and finds the lines of the keys in a property list in XML.
struct PropertyListReader {
    let file: String

    func node(_ data: Data) throws(ConfigurationError) -> ConfigurationNode {
        try self.checkDepth(of: data)
        let count = ValueCount()
        let decoder = PropertyListDecoder()
        if let key = ValueCount.key { decoder.userInfo[key] = count }
        do {
            let value = try decoder.decode(Value.self, from: data)
            guard !count.isTooLarge else {
                throw ConfigurationError(
                    .init(file: self.file),
                    "the file has more than \(ValueCount.limit) values, including values that occur several times"
                )
            }
            return self.convert(
                value,
                lines: Lines(data),
                line: nil
            )
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError(.init(file: self.file), "the file is not a property list: \(error)")
        }
    }

    /// The number of levels that the decoder reads without exhausting the stack.
    private static let depthLimit = 100
    /// The number of arrays and dictionaries in a text that can hide tags, and whose depth is not known.
    private static let containerLimit = 1_000

    /// Checks that a property list in XML is not nested so deeply that the decoder would exhaust the stack.
    ///
    /// - Throws: An error also for a text that is not XML in UTF-8, because its depth is not known.
    private func checkDepth(of data: Data) throws(ConfigurationError) {
        if data.starts(with: "bplist".utf8) { return }
        guard let text = String(validating: data, as: UTF8.self),
            let tags = text.firstIndex(of: "<").map({ text[$0...].split(separator: "<") })
        else {
            let message = "the file is not a property list in XML with the encoding UTF-8, or in binary form"
            throw ConfigurationError(.init(file: self.file), message)
        }
        // A comment, a section with plain text, a processing instruction or a tag without an end possibly contains
        // tags, which the decoder ignores. The first tag is the XML declaration.
        let hidesTags =
            tags.contains { $0.hasPrefix("!--") || $0.hasPrefix("![") || !$0.contains(">") }
            || tags.dropFirst().contains { $0.hasPrefix("?") }
        var depth = 0
        for tag in tags {
            let name = tag.prefix { $0 != ">" }
            if !hidesTags, name.hasPrefix("/array") || name.hasPrefix("/dict") { depth -= 1 }
            // `<array/>` is an empty array.
            if name.hasPrefix("array") || name.hasPrefix("dict"), !name.hasSuffix("/") { depth += 1 }
            guard depth <= (hidesTags ? Self.containerLimit : Self.depthLimit) else {
                let message =
                    hidesTags
                    ? "the file has more than \(Self.containerLimit) arrays and dictionaries, and also comments, "
                        + "processing instructions or incomplete tags: remove the comments and instructions"
                    : "the file is nested too deeply"
                throw ConfigurationError(.init(file: self.file), message)
            }
        }
    }

    private func convert(_ value: Value, lines: Lines, line: Int?) -> ConfigurationNode {
        switch value {
        case .text(let text): return ConfigurationNode(value: .text(text), line: line)
        case .list(let list):
            return ConfigurationNode(
                value: .list(list.map { self.convert($0, lines: lines, line: line) }),
                line: line
            )
        case .map(let map):
            let pairs = map.map { (key: $0, value: self.convert($1, lines: lines, line: lines.line(of: $0))) }
            // A map of a property list has no order, so its pairs are sorted by their lines in the file.
            let inOrder = pairs.sorted { ($0.value.line ?? 0, $0.key) < ($1.value.line ?? 0, $1.key) }
            return ConfigurationNode(value: .map(inOrder), line: line)
        case .other: return ConfigurationNode(value: .other("a number, a date or data"), line: line)
        }
    }

    /// The number of values that have been decoded.
    ///
    /// A binary property list can refer to one value many times, so that a small file has many values.
    private final class ValueCount: Sendable {
        static let limit = 100_000
        static let key = CodingUserInfoKey(rawValue: "count")
        private let count = Atomic(0)

        var isTooLarge: Bool { self.count.load(ordering: .relaxed) > Self.limit }

        func add() { self.count.add(1, ordering: .relaxed) }
    }

    /// The kinds of values in a property list.
    private enum Value: Decodable {
        case text(String)
        case list([Value])
        case map([String: Value])
        case other

        init(from decoder: any Decoder) throws {
            let count = ValueCount.key.flatMap { decoder.userInfo[$0] as? ValueCount }
            count?.add()
            guard decoder.codingPath.count < 8, count?.isTooLarge != true else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: [], debugDescription: "the file is nested too deeply")
                )
            }
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let list = try? container.decode([Value].self) {
                self = .list(list)
            } else if let map = try? container.decode([String: Value].self) {
                self = .map(map)
            } else {
                self = .other
            }
        }
    }

    /// The lines of the keys of a property list in XML.
    private struct Lines {
        private var lines: [String: Int] = [:]

        init(_ data: Data) {
            guard let text = String(data: data, encoding: .utf8), text.hasPrefix("<?xml") else { return }
            let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isLineBreak)
            for (index, line) in lines.enumerated() {
                for part in line.components(separatedBy: "<key>").dropFirst() {
                    let key = part.components(separatedBy: "</key>")[0]
                    let name = key.replacing("&lt;", with: "<").replacing("&gt;", with: ">")
                        .replacing("&amp;", with: "&")
                    self.lines[name] = self.lines[name] ?? index + 1
                }
            }
        }

        func line(of key: String) -> Int? { self.lines[key] }
    }
}

#endif
