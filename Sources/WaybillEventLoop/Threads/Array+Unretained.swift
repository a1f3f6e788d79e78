extension Array where Element: AnyObject {
    /// Runs a closure with an element, which is not retained meanwhile.
    ///
    /// For code that goes through many objects and does little with each. The caller must hold the array until the
    /// closure has returned.
    @inlinable
    @inline(__always)
    package func withUnretained<State, Result>(
        at index: Int,
        _ state: inout State,
        _ body: (Element, inout State) -> Result
    ) -> Result {
        unsafe self.withUnsafeBufferPointer { elements in
            unsafe Unmanaged.passUnretained(elements[index])._withUnsafeGuaranteedRef { body($0, &state) }
        }
    }
}
