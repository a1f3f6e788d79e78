public import WaybillEventLoop

/// A middleware as a chain calls it: its method as a function, and the object that the function is called with.
///
/// A call by way of `any Middleware` takes two asynchronous frames, the witness and the method. This function is made
/// where the middleware's type is known, so the method is inlined into it; and since it has no context, there is none
/// to count.
@usableFromInline
struct MiddlewareCode: Sendable {
    /// ``Middleware/handle(_:context:next:)`` of the middleware in a box.
    @usableFromInline
    typealias Handle =
        @Sendable (
            _ box: UnretainedObject,
            _ message: Message,
            _ context: borrowing MiddlewareContext,
            _ next: borrowing Next
        ) async throws -> any Sendable

    @usableFromInline let handle: Handle

    /// The middleware's box, for who holds this.
    @usableFromInline let box: UnretainedObject

    private let held: any AnyObject & Sendable

    /// What is asked for less often than a delivery.
    let middleware: any Middleware

    /// Keeps a middleware of a type that the compiler knows.
    @usableFromInline
    final class Box<Content: Middleware>: Sendable {
        @usableFromInline let content: Content

        @inlinable
        init(_ content: Content) { self.content = content }
    }

    @inlinable
    init<Content: Middleware>(_ middleware: Content) {
        self.init(middleware, Box(middleware)) { box, message, context, next in
            try await box.assume(Box<Content>.self, { $0.content })
                .handle(message, context: context, next: next)
        }
    }

    @usableFromInline
    init(_ middleware: any Middleware, _ box: any AnyObject & Sendable, _ handle: @escaping Handle) {
        self.middleware = middleware
        self.held = box
        self.box = UnretainedObject(box)
        self.handle = handle
    }
}
