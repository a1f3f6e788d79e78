internal import Waybill

/// The error of the bus that something throws, or nil if it throws none.
func failure<Value>(_ body: () async throws -> Value) async -> RoutingError? {
    do {
        _ = try await body()
    } catch {
        return error as? RoutingError
    }
    return nil
}
