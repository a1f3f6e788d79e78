#if Tool
internal import ArgumentParser
internal import WaybillRouting

/// How the table is made that a command asks.
struct TableOptions: ParsableArguments {
    @Option(name: .long, help: "The conventions: waybill, yfRouter, ftRouter, cocRouter or zikRouter.")
    var conventions = ConventionsName.waybill

    @Option(name: .long, help: "The scheme of patterns and URLs without one.")
    var defaultScheme = "app"

    /// An empty table whose handlers are the patterns' texts.
    var table: RouteTable<String> {
        RouteTable(conventions: self.conventions.conventions, defaultScheme: self.defaultScheme)
    }
}
#endif
