internal import WaybillRouting

/// The routes as they were at one moment.
final class Snapshot: Sendable {
    let table: RouteTable<Handler>
    let generation: Int

    init(table: RouteTable<Handler>, generation: Int) {
        self.table = table
        self.generation = generation
    }
}
