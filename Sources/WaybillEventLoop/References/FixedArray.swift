/// Elements that never change and never move, and that are read without counting references.
///
/// An array that is read out of an object is retained while it is read, and so is each element that contains
/// a reference.
@safe
@usableFromInline
package final class FixedArray<Element: Sendable>: Sendable {
    /// The elements, without a reference to the array that keeps them.
    @usableFromInline package let elements: UnretainedElements

    /// The location of a fixed array's elements; it does not keep the array alive.
    ///
    /// To copy it is harmless. Each access to an element is `unsafe`, and its proof names the reference that
    /// keeps the array alive.
    @safe
    @usableFromInline
    package struct UnretainedElements {
        @usableFromInline let pointer: UnsafeMutablePointer<Element>

        /// The number of elements.
        @usableFromInline package let count: Int

        init(_ array: [Element]) {
            unsafe self.pointer = .allocate(capacity: array.count)
            _ = unsafe UnsafeMutableBufferPointer(start: self.pointer, count: array.count).initialize(
                from: array
            )
            self.count = array.count
        }

        /// The element at an index, in place; the array must be alive until the access has ended.
        @unsafe
        @inlinable
        package subscript(index: Int) -> Element {
            @inline(__always)
            unsafeAddress {
                precondition(index >= 0 && index < self.count, "there is no such element")
                return unsafe UnsafePointer(self.pointer + index)
            }
        }
    }

    /// Copies the elements of an array.
    package init(_ array: [Element]) { self.elements = UnretainedElements(array) }

    deinit {
        unsafe self.elements.pointer.deinitialize(count: self.elements.count)
        unsafe self.elements.pointer.deallocate()
    }
}

// What it points to never changes.
extension FixedArray.UnretainedElements: @unchecked Sendable {}
