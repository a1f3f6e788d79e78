/// Items in the order in which they will run; owned by one thread at a time.
///
/// The links are in the items, so a list is two words and joining two of them takes no time.
@safe
struct WorkList {
    private var head: UInt = 0
    private var tail: UInt = 0

    var isEmpty: Bool { self.head == 0 }

    /// Adds an item at the end.
    mutating func append(_ item: WorkItem) {
        let address = unsafe UInt(bitPattern: item.address)
        item.next = 0
        if let last = Self.item(self.tail) {
            last.next = address
        } else {
            self.head = address
        }
        self.tail = address
    }

    /// Adds an item at the front.
    mutating func prepend(_ item: WorkItem) {
        let address = unsafe UInt(bitPattern: item.address)
        item.next = self.head
        self.head = address
        if self.tail == 0 { self.tail = address }
    }

    /// Adds all items of another list at the end.
    mutating func append(_ list: WorkList) {
        guard list.head != 0 else { return }
        if let last = Self.item(self.tail) {
            last.next = list.head
        } else {
            self.head = list.head
        }
        self.tail = list.tail
    }

    /// Removes the first item.
    mutating func pop() -> WorkItem? {
        guard let first = Self.item(self.head) else { return nil }
        self.head = first.next
        if self.head == 0 { self.tail = 0 }
        return first
    }

    private static func item(_ address: UInt) -> WorkItem? {
        // Only addresses of items that somebody put in are ever stored.
        guard let pointer = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return nil }
        return unsafe WorkItem(address: pointer)
    }
}

// A list travels to the thread that takes over a loop's work; nobody else has the items meanwhile.
extension WorkList: @unchecked Sendable {}
