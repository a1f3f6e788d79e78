extension TaskLocal {
    /// Binds a value while a closure runs with the isolation of the caller.
    ///
    /// `withValue(_:operation:)` leaves the isolation of the caller, unless its closure captures an isolated
    /// parameter. A `nonisolated(nonsending)` caller must pass its isolation, because a default argument would
    /// be nil there.
    package func bind<Result>(
        _ value: Value,
        isolation: isolated (any Actor)?,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await self.withValue(value) {
            // The closure is isolated to the caller because it captures the parameter.
            _ = isolation
            return try await body()
        }
    }
}
