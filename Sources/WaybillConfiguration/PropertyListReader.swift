#if Configuration

internal import Foundation
internal import Waybill

/// Reads property lists.
///
/// For a property list in XML, the reader also finds the lines of the keys.
struct PropertyListReader {
    let file: String

    func node(_ data: Data) throws(ConfigurationError) -> ConfigurationNode {
        do {
            return self.convert(
                try PropertyListDecoder().decode(Value.self, from: data),
                lines: Lines(data),
                line: nil
            )
        } catch {
            throw ConfigurationError(.init(file: self.file), "the file is not a property list: \(error)")
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

    /// The kinds of values in a property list.
    private enum Value: Decodable {
        case text(String)
        case list([Value])
        case map([String: Value])
        case other

        init(from decoder: any Decoder) throws {
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
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
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
