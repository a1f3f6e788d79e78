#if HTTP
/// The files of the page, which are compiled into the program.
enum PageFiles {
    struct File: Sendable {
        let type: String
        let content: [UInt8]
    }

    static let index = File(type: "text/html; charset=utf-8", content: PackageResources.index_html)
    static let signIn = File(type: "text/html; charset=utf-8", content: PackageResources.signin_html)

    /// The files that the page and the sign-in page load.
    ///
    /// The server serves these files without a token. The files reveal nothing about the program.
    static let assets: [String: File] = [
        "console.css": File(type: "text/css; charset=utf-8", content: PackageResources.console_css)
    ].merging(Self.scripts.map { ($0.0, File(type: "text/javascript; charset=utf-8", content: $0.1)) }) { $1 }

    private static let scripts: [(String, [UInt8])] = [
        ("deadletters.js", PackageResources.deadletters_js),
        ("diagram.js", PackageResources.diagram_js),
        ("elements.js", PackageResources.elements_js),
        ("flow.js", PackageResources.flow_js),
        ("form.js", PackageResources.form_js),
        ("keys.js", PackageResources.keys_js),
        ("list.js", PackageResources.list_js),
        ("live.js", PackageResources.live_js),
        ("main.js", PackageResources.main_js),
        ("nodes.js", PackageResources.nodes_js),
        ("routes.js", PackageResources.routes_js),
        ("signin.js", PackageResources.signin_js),
        ("statistics.js", PackageResources.statistics_js),
        ("stores.js", PackageResources.stores_js),
        ("stream.js", PackageResources.stream_js),
    ]
}
#endif
