// The names that these had before their accesses were `unsafe`; for callers that do not say so yet.

package typealias UnretainedEventLoop = HeldEventLoop

extension FixedArray {
    @usableFromInline package typealias Elements = UnretainedElements
}

extension Unretained {
    @inlinable package var object: Object { unsafe self.unsafeObject }

    @inlinable
    @inline(__always)
    package func with<Result>(_ body: (Object) -> Result) -> Result { unsafe self.withUnsafeObject(body) }

    @inlinable
    @inline(__always)
    package func withThrowing<Result, Failure: Error>(
        _ body: (Object) throws(Failure) -> Result
    ) throws(Failure) -> Result { try unsafe self.withUnsafeObjectThrowing(body) }
}

extension UnretainedObject {
    @inlinable
    @inline(__always)
    package func assume<Object: AnyObject, Result>(_ type: Object.Type, _ body: (Object) -> Result) -> Result
    {
        unsafe self.withUnsafeObject(assumedToBe: type, body)
    }

    @inlinable
    @inline(__always)
    package func with<Object: AnyObject, Result>(
        as type: Object.Type,
        _ body: (Object) throws -> Result
    ) rethrows -> Result? { try unsafe self.withUnsafeObject(as: type, body) }
}

extension LoopLocal where Value: AnyObject {
    @inlinable
    @inline(__always)
    package func withUnretained<Result>(_ body: (Value) -> Result) -> Result {
        unsafe self.withUnsafeObject(body)
    }

    @inlinable
    @inline(__always)
    package func withUnretainedThrowing<Result, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result { try unsafe self.withUnsafeObjectThrowing(body) }
}

extension LoopBound {
    @inlinable
    @inline(__always)
    package nonisolated func plain<Argument, Result>(
        _ body: @escaping @Sendable (isolated Self, Argument) throws -> Result
    ) -> @Sendable (Argument) throws -> Result { unsafe self.unisolatedUnchecked(body) }
}
