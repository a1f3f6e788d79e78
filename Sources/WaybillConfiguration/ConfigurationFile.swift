#if Configuration

internal import Foundation
internal import WaybillRouting

/// A file that contains a configuration, or a part of a configuration.
struct ConfigurationFile {
    let url: URL
    let format: Format

    /// The format of a file.
    enum Format {
        /// YAML, or JSON.
        ///
        /// The YAML parser reads both formats, because it reports line numbers. It rejects one part of JSON,
        /// an escaped pair of surrogates such as `"\ud83d\ude00"`.
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

    /// The file's name, for error messages.
    var name: String { self.url.lastPathComponent }

    /// The scheme in the file's name: `order` for `order.yaml` and for `OrderConfig.plist`.
    var scheme: String {
        let name = self.url.deletingPathExtension().lastPathComponent
        let suffix = "Config"
        guard name.hasSuffix(suffix), name != suffix else { return name }
        return name.dropLast(suffix.count).lowercased()
    }

    /// Returns the file at a URL, or the configuration files in the folder at a URL.
    static func files(at url: URL) throws(ConfigurationError) -> [Self] {
        guard let isFolder = self.isFolder(url) else {
            throw ConfigurationError(.init(file: url.path), "there is no such file")
        }
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
            let urls = try FileManager.default.contentsOfDirectory(
                at: url.resolvingSymlinksInPath(),
                includingPropertiesForKeys: nil
            )
            return urls.sorted { $0.lastPathComponent < $1.lastPathComponent }.compactMap { url in
                self.isFolder(url) == true ? nil : Format(url).map { Self(url: url, format: $0) }
            }
        } catch {
            throw ConfigurationError(
                .init(file: url.path),
                "the folder cannot be read: \(error.localizedDescription)"
            )
        }
    }

    /// Returns whether a URL, or the target of a symbolic link, is a folder; nil if there is no such file.
    private static func isFolder(_ url: URL) -> Bool? {
        var isFolder: ObjCBool = false
        // The call writes to `isFolder` only until it returns.
        let exists = unsafe FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        return exists ? isFolder.boolValue : nil
    }

    func entries() throws(ConfigurationError) -> [RouteConfiguration.Entry] {
        let data = try self.read()
        let root =
            switch self.format {
            case .yaml: try self.readYAML(data)
            case .propertyList: try PropertyListReader(file: self.name).node(data)
            }
        return try EntryReader(file: self.name, scheme: self.scheme).entries(root)
    }

    private func readYAML(_ data: Data) throws(ConfigurationError) -> ConfigurationNode {
        var reader = YAMLReader(file: self.name)
        return try reader.node(data)
    }

    private func read() throws(ConfigurationError) -> Data {
        let limit = RouteConfiguration.maximumFileSize
        let data: Data
        do {
            // A file above the limit, or an endless file such as `/dev/zero`, must not fill the memory.
            data = try FileHandle(forReadingFrom: self.url).read(upToCount: limit + 1) ?? Data()
        } catch {
            throw ConfigurationError(
                .init(file: self.name),
                "the file cannot be read: \(error.localizedDescription)"
            )
        }
        guard data.count <= limit else {
            throw ConfigurationError(.init(file: self.name), "the file has more than \(limit) bytes")
        }
        return data
    }
}

#endif
