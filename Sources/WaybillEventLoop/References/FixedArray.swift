/// Elements that never change and never move, and that are read without counting references.
///
/// An array that is read out of an object is retained while it is read, and so is each element with a
/// reference in it.
@safe
@usableFromInline
package final class FixedArray<Element: Sendable>: Sendable {
    /// The elements; who reads them sees to it that the array is held.
    @usableFromInline package let elements: Elements

    /// Where the elements are.
    @safe
    @usableFromInline
    package struct Elements {
        @usableFromInline let pointer: UnsafeMutablePointer<Element>

        /// How many there are.
        @usableFromInline package let count: Int

        init(_ array: [Element]) {
            unsafe self.pointer = .allocate(capacity: array.count)
            _ = unsafe UnsafeMutableBufferPointer(start: self.pointer, count: array.count).initialize(
                from: array
            )
            self.count = array.count
        }

        /// The element at an index, where it lies.
        @inlinable
        package subscript(index: Int) -> Element {
            @inline(__always)
            unsafeAddress {
                precondition(index >= 0 && index < self.count, "there is no such element")
                return unsafe UnsafePointer(self.pointer + index)
            }
        }
    }

    /// Takes the elements of an array.
    package init(_ array: [Element]) { self.elements = Elements(array) }

    deinit {
        unsafe self.elements.pointer.deinitialize(count: self.elements.count)
        unsafe self.elements.pointer.deallocate()
    }
}

// What it points to never changes.
extension FixedArray.Elements: @unchecked Sendable {}
