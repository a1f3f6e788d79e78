/// An object that calls a closure when it is released.
package final class Guest: Sendable {
    private let onRelease: @Sendable () -> Void

    package init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    deinit { self.onRelease() }

    /// Does nothing, so that a closure can capture the object.
    package func greet() {}
}
