// This code is correct, and Swift 6.3 ends with "Found ownership error" when it compiles it: a typed error that holds an
// object is caught by its type in asynchronous code at the top level of a program. `.ci/diagnostics` notices when a
// compiler takes it; the documents can then drop their advice to write `catch { error.code }`.

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
