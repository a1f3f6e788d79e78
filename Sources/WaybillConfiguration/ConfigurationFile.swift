#if Configuration

internal import Foundation
internal import Waybill

/// A file of a configuration.
struct ConfigurationFile {
    let url: URL
    let format: Format

    /// How a file is written.
    enum Format {
        /// JSON is read as YAML, which it is, since that knows where everything stands.
        case yaml
        case propertyList

        init?(_ url: URL) {
            switch url.pathExtension.lowercased() {
            case "json", "yaml", "yml": self = .yaml
            case "plist": self = .propertyList
            default: return nil
            }
        }
    }

    /// The name by which errors call the file.
    var name: String { self.url.lastPathComponent }

    /// The scheme that the file's name stands for: `order` of `order.yaml`, and of `OrderConfig.plist`.
    var scheme: String {
        let name = self.url.deletingPathExtension().lastPathComponent
        let suffix = "Config"
        guard name.hasSuffix(suffix), name != suffix else { return name }
        return name.dropLast(suffix.count).lowercased()
    }

    /// Returns the file at a URL, or the files in the folder at the URL.
    static func files(at url: URL) throws(ConfigurationError) -> [Self] {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw ConfigurationError(.init(file: url.path), "there is no such file")
        }
        let isFolder = (try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true
        guard isFolder else {
            guard let format = Format(url) else {
                throw ConfigurationError(
                    .init(file: url.lastPathComponent),
                    "the name must end in .json, .yaml, .yml or .plist"
                )
            }
            return [Self(url: url, format: format)]
        }
        do {
            let urls = try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
            return urls.sorted { $0.lastPathComponent < $1.lastPathComponent }.compactMap { url in
                Format(url).map { Self(url: url, format: $0) }
            }
        } catch {
            throw ConfigurationError(.init(file: url.path), "the folder cannot be read: \(error)")
        }
    }

    func entries() throws(ConfigurationError) -> [RouteConfiguration.Entry] {
        let data = try self.read()
        let root =
            switch self.format {
            case .yaml: try YAMLReader(file: self.name).node(data)
            case .propertyList: try PropertyListReader(file: self.name).node(data)
            }
        return try EntryReader(file: self.name, scheme: self.scheme).entries(root)
    }

    private func read() throws(ConfigurationError) -> Data {
        let data: Data
        do {
            data = try Data(contentsOf: self.url)
        } catch {
            throw ConfigurationError(.init(file: self.name), "it cannot be read: \(error)")
        }
        guard data.count <= RouteConfiguration.maximumFileSize else {
            throw ConfigurationError(
                .init(file: self.name),
                "it has \(data.count) bytes, and \(RouteConfiguration.maximumFileSize) is the limit"
            )
        }
        return data
    }
}

#endif
