internal import Waybill

/// A connector made of closures.
struct StubConnector: Connector {
    var passes: @Sendable (Message) async throws -> Void = { _ in }
    var reaches: @Sendable (Address) -> Bool = { _ in true }
    let body: @Sendable (Message) async throws -> any Sendable

    init(_ body: @escaping @Sendable (Message) async throws -> any Sendable) { self.body = body }

    func willRoute(_ message: Message) async throws { try await self.passes(message) }

    func route(_ message: Message) async throws -> any Sendable { try await self.body(message) }

    func canRoute(_ address: Address) -> Bool { self.reaches(address) }
}
