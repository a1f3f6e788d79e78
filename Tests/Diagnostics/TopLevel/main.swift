// This code is correct, but Swift 6.3 ends with "Found ownership error" when it compiles it: asynchronous
// code at the top level of a program catches a typed error that holds an object by its type.
// `.ci/diagnostics` reports when a compiler accepts the code. The documents can then remove their advice to
// write `catch { error.code }`.

final class Reason: Sendable {}

struct Failure: Error {
    let reason = Reason()
}

final class Bus: Sendable {
    func route() async throws(Failure) -> Int { throw Failure() }
}

do {
    print(try await Bus().route())
} catch let error as Failure {
    print(error)
}
