/// A caller's code for the replies before the last one; it runs where the caller is isolated.
typealias Listener = (any Sendable) async throws -> any Sendable

/// The listener of a caller that wants the last reply only.
func noListener(_ value: any Sendable) async throws -> any Sendable { throw Exchange.Unheard() }
