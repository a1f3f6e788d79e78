#if Tool
internal import ArgumentParser
internal import WaybillRouting

/// The options for the route table that a command uses.
struct TableOptions: ParsableArguments {
    @Option(name: .long, help: "The syntax of patterns: waybill, yfRouter, ftRouter, cocRouter or zikRouter.")
    var conventions = ConventionsName.waybill

    @Option(name: .long, help: "The scheme of patterns and URLs that do not begin with a scheme.")
    var defaultScheme = "app"

    /// An empty table, for routes whose handlers are only the texts of their patterns.
    var table: RouteTable<String> {
        RouteTable(conventions: self.conventions.conventions, defaultScheme: self.defaultScheme)
    }
}
#endif
