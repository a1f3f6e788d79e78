internal import Synchronization
public import WaybillEventLoop
public import WaybillRouting

// The plain route is inlined into its caller, and this with it: so there is no asynchronous frame between the caller and
// the first middleware.
extension MessageBus {
    /// Whether there are middlewares, as far as this thread can know.
    @usableFromInline var isSurrounded: Bool { !self.core.directory.isPlain.load(ordering: .relaxed) }

    /// Routes a URL through the middlewares around its handler.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func routeSurrounded<Value: Sendable>(
        _ url: String,
        as type: Value.Type
    ) async throws(RoutingError) -> Value {
        var opening = Opening()
        let message = self.open(url, &opening)
        guard let chain = opening.chain, let handler = opening.handler else {
            return try await self.routeFar(url, as: type)
        }
        let value: any Sendable
        do throws(RoutingError) {
            value = try await Next(chain, 0, handler, nil).attempt(message)
        } catch {
            throw self.close(opening, error, message, url)
        }
        self.close(opening)
        if let value = unbox(value, as: type) { return value }
        return try self.convert(value, to: type, url: url)
    }

    @usableFromInline
    @inline(never)
    func open(_ url: String, _ opening: inout Opening) -> Message { opening.open(url, on: self.core) }

    @usableFromInline
    func close(_ opening: borrowing Opening) { opening.close(on: self.core) }

    @usableFromInline
    @inline(never)
    func close(
        _ opening: borrowing Opening,
        _ error: RoutingError,
        _ message: Message,
        _ url: String
    ) -> RoutingError {
        opening.close(error, message, url, on: self.core)
    }

    /// The same for a message that cannot go the short way.
    @usableFromInline
    @inline(never)
    nonisolated(nonsending) func routeFar<Value: Sendable>(
        _ url: String,
        as type: Value.Type
    ) async throws(RoutingError) -> Value {
        let delivered = await self.core.route(Request(url: url))
        return try self.value(of: delivered.outcome, as: type, url: url)
    }
}
