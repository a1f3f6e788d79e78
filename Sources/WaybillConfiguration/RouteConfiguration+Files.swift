#if Configuration

public import Foundation
public import Waybill

extension RouteConfiguration {
    /// Reads a configuration from a file, or from every file of a folder.
    ///
    /// The suffix of a file's name selects JSON, YAML or a property list. A file maps actions to patterns,
    /// and paths to destinations:
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
    /// A pattern without a scheme gets the scheme of the file. This is the scheme that the file names, or the
    /// name of the file: `order.yaml` and `OrderConfig.yaml` are about `order://`. A file can also be a list
    /// of actions (`[{ "detail": "detail/<id>" }]`), or actions below descriptions (`{ "an order": {
    /// "detail": "detail/<id>" } }`), as in COCRouter. It can also consist of destinations (`{
    /// "user/profile": "Profile" }`), as in FTRouter. These destinations get the scheme of the bus.
    ///
    /// The files of a folder are read in the order of their names. Files with other suffixes and nested
    /// folders are ignored. A file may have up to ``maximumFileSize`` bytes.
    ///
    /// - Parameter url: The URL of a file or a folder.
    /// - Throws: ``ConfigurationError`` with file, line and key.
    public init(contentsOf url: URL) throws(ConfigurationError) {
        self.init()
        for file in try ConfigurationFile.files(at: url) { self.entries += try file.entries() }
    }

    /// Reads the configuration of a scheme from the files in a folder that are named for it: `order.yaml` and
    /// `OrderConfig.plist` are about `order://`.
    ///
    /// - Parameters:
    ///   - scheme: The scheme, without a colon, in any letter case.
    ///   - folder: Where the file is, the resources of a bundle for one.
    /// - Throws: ``ConfigurationError`` with file, line and key; also if there is no such file.
    public init(ofScheme scheme: String, in folder: URL) throws(ConfigurationError) {
        self.init()
        let files = try ConfigurationFile.files(at: folder)
            .filter { $0.scheme.lowercased() == scheme.lowercased() }
        guard !files.isEmpty else {
            let name = scheme.prefix(1).uppercased() + scheme.dropFirst()
            throw ConfigurationError(
                .init(file: folder.path),
                "there is no file for the scheme `\(scheme)`; it is called \(name)Config.plist or \(scheme).yaml"
            )
        }
        for file in files { self.entries += try file.entries() }
    }

    /// How many bytes a file may have: a mebibyte.
    public static var maximumFileSize: Int { 1 << 20 }
}

#endif
