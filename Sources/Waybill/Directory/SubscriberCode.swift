/// Code that answers nothing and cannot suspend.
final class SubscriberCode: Sendable {
    // What is lent is not copied first.
    private let body: @Sendable (borrowing Message) throws -> Void

    init(_ body: @escaping @Sendable (Message) throws -> Void) { self.body = body }

    @inline(__always)
    func call(_ message: borrowing Message) -> (any Error)? {
        do {
            try self.body(message)
            return nil
        } catch {
            return error
        }
    }
}
