/// A unit of work for a loop: the job of an actor, the job of a task, or a closure.
///
/// The value contains only an address. The third word at that address links to the next item, and the fourth
/// word holds the kind. The runtime reserves these two words of a job for its executor (`SchedulerPrivate`),
/// so enqueuing a job allocates nothing. A closure is stored in a node of the same layout. A test checks the
/// position of the words.
@safe
struct WorkItem {
    enum Kind: UInt {
        case actorJob
        case taskJob
        case closure
    }

    typealias Body = @Sendable () -> Void

    /// A box for a closure.
    ///
    /// A bare closure in untyped memory would be wrapped in a further allocation.
    private struct Node {
        let body: Body
    }

    /// The offset of the two words from the start of a job.
    static let linkOffset = 16

    let address: UnsafeMutableRawPointer

    init(address: UnsafeMutableRawPointer) {
        unsafe self.address = address
    }

    /// Creates an item from a job that the runtime has passed to an executor.
    init(_ job: UnownedJob, as kind: Kind) {
        // An `UnownedJob` contains only the address of the job.
        unsafe self.address = unsafeBitCast(job, to: UnsafeMutableRawPointer.self)
        unsafe self.address.storeBytes(of: kind.rawValue, toByteOffset: Self.linkOffset + 8, as: UInt.self)
    }

    /// Creates an item from a closure, in a new node.
    init(_ body: @escaping Body) {
        unsafe self.address = .allocate(byteCount: Self.linkOffset + 16, alignment: 8)
        unsafe self.address.initializeMemory(as: Node.self, to: Node(body: body))
        unsafe self.address.storeBytes(
            of: Kind.closure.rawValue,
            toByteOffset: Self.linkOffset + 8,
            as: UInt.self
        )
    }

    /// The address of the next item, or zero after the last item.
    var next: UInt {
        get { unsafe self.address.load(fromByteOffset: Self.linkOffset, as: UInt.self) }
        nonmutating set {
            unsafe self.address.storeBytes(of: newValue, toByteOffset: Self.linkOffset, as: UInt.self)
        }
    }

    var kind: Kind {
        let word = unsafe self.address.load(fromByteOffset: Self.linkOffset + 8, as: UInt.self)
        // Only the initialisers write the word, and only raw values of the enumeration.
        return Kind(rawValue: word) ?? .closure
    }

    /// The item as a job; valid only for the kinds `actorJob` and `taskJob`.
    var job: UnownedJob { unsafe unsafeBitCast(self.address, to: UnownedJob.self) }

    /// Removes the closure and frees the node; valid only for a closure, and only once.
    func takeBody() -> Body {
        let node = unsafe self.address.assumingMemoryBound(to: Node.self).move()
        unsafe self.address.deallocate()
        return node.body
    }
}

/// A list of items in the order in which they will run; only one thread at a time owns it.
///
/// The links are stored in the items. A list therefore consists of two words, and joining two lists takes
/// constant time.
@safe
struct WorkList {
    private var head: UInt = 0
    private var tail: UInt = 0

    var isEmpty: Bool { self.head == 0 }

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

    mutating func prepend(_ item: WorkItem) {
        let address = unsafe UInt(bitPattern: item.address)
        item.next = self.head
        self.head = address
        if self.tail == 0 { self.tail = address }
    }

    /// Appends all items of another list.
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

    /// Releases the closures of the list without running them.
    ///
    /// The memory of tasks is not released, because a task that has not ended cannot be destroyed.
    consuming func discard() {
        while let item = self.pop() {
            if item.kind == .closure { _ = item.takeBody() }
        }
    }

    private static func item(_ address: UInt) -> WorkItem? {
        // The address is zero, or the address of an item that was appended or prepended.
        guard let pointer = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return nil }
        return unsafe WorkItem(address: pointer)
    }
}

// A list is passed to the thread that continues a loop's work. No other thread refers to its items.
extension WorkList: @unchecked Sendable {}
