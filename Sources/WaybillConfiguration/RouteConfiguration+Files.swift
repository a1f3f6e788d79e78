#if Configuration

public import Foundation
public import WaybillRouting

extension RouteConfiguration {
    /// Reads a configuration from a file, or from every file in a folder.
    ///
    /// The extension of a file's name gives its format: JSON, YAML or a property list. A file maps actions to
    /// patterns, and paths to destinations:
    ///
    /// ```yaml
    /// scheme: order
    /// actions:
    ///   detail: "detail/:id"
    ///   place: [place, checkout]
    /// destinations:
    ///   "app://start": Catalog.featured
    /// ```
    ///
    /// A pattern of an action without a scheme gets the scheme of the file. The section `scheme` of the file
    /// contains this scheme. Without the section, the scheme is the file's name, for example `order` for
    /// `order.yaml` and `OrderConfig.yaml`. A destination's path without a scheme gets the scheme in the
    /// section. Without the section, the path gets the default scheme of the bus.
    ///
    /// A file may also have no sections, like the configuration files of other routing libraries:
    ///
    /// - A list of actions, as for COCRouter: `[{ "detail": "detail/<id>" }]`.
    /// - Actions below descriptions, as for COCRouter: `{ "an order": { "detail": "detail/<id>" } }`.
    /// - Destinations, as for FTRouter: `{ "user/profile": "Profile" }`. The paths get the default scheme of
    ///   the bus.
    ///
    /// The files of a folder are read in the order of their names. Folders inside the folder, and files with
    /// other extensions, are ignored. A file may have up to ``maximumFileSize`` bytes.
    ///
    /// - Parameter url: A file or a folder.
    /// - Throws: ``/WaybillRouting/ConfigurationError`` with the file, the line and the key.
    public init(contentsOf url: URL) throws(ConfigurationError) {
        self.init()
        for file in try ConfigurationFile.files(at: url) { self.entries += try file.entries() }
    }

    /// Reads the configuration of a scheme from those files in a folder that have the scheme's name.
    ///
    /// For example, `order.yaml` and `OrderConfig.plist` have the name of the scheme `order`.
    ///
    /// - Parameters:
    ///   - scheme: The scheme, without a colon, in any letter case.
    ///   - folder: The folder with the file, for example the resources of a bundle.
    /// - Throws: ``/WaybillRouting/ConfigurationError`` with the file, the line and the key, or with the folder
    ///   if it has no file for the scheme.
    public init(ofScheme scheme: String, in folder: URL) throws(ConfigurationError) {
        self.init()
        let files = try ConfigurationFile.files(at: folder)
            .filter { $0.scheme.lowercased() == scheme.lowercased() }
        guard !files.isEmpty else {
            let name = scheme.prefix(1).uppercased() + scheme.dropFirst()
            throw ConfigurationError(
                .init(file: folder.path),
                "there is no file for the scheme `\(scheme)`: add \(name)Config.plist or \(scheme).yaml"
            )
        }
        for file in files { self.entries += try file.entries() }
    }

    /// The maximum size of a file in bytes: one mebibyte.
    public static var maximumFileSize: Int { 1 << 20 }
}

#endif
