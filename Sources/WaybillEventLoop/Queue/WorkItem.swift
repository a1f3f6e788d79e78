/// One thing for a loop to run: the job of an actor, the job of a task, or a plain closure.
///
/// An item is the address of memory whose third word links it to the next item and whose fourth holds its
/// kind. The runtime reserves these very words of a job for the executor that holds it (`SchedulerPrivate`),
/// so queuing one allocates nothing; a closure gets a node of the same shape. A test checks that the words
/// are where this type thinks.
@safe
struct WorkItem {
    enum Kind: UInt {
        case actorJob
        case taskJob
        case closure
    }

    typealias Body = @Sendable () -> Void

    /// A closure as it is: stored by itself in untyped memory it would be wrapped in an allocation of its
    /// own.
    private struct Node {
        let body: Body
    }

    /// The distance of the two words from the start of a job.
    static let linkOffset = 16

    let address: UnsafeMutableRawPointer

    init(address: UnsafeMutableRawPointer) {
        unsafe self.address = address
    }

    /// A job, as the runtime hands it to an executor.
    init(_ job: UnownedJob, as kind: Kind) {
        // An unowned job is the address of the job, and nothing else.
        unsafe self.address = unsafeBitCast(job, to: UnsafeMutableRawPointer.self)
        unsafe self.address.storeBytes(of: kind.rawValue, toByteOffset: Self.linkOffset + 8, as: UInt.self)
    }

    /// A closure, in a node of its own.
    init(_ body: @escaping Body) {
        unsafe self.address = .allocate(byteCount: Self.linkOffset + 16, alignment: 8)
        unsafe self.address.initializeMemory(as: Node.self, to: Node(body: body))
        unsafe self.address.storeBytes(
            of: Kind.closure.rawValue,
            toByteOffset: Self.linkOffset + 8,
            as: UInt.self
        )
    }

    /// The address of the item that follows, or a mark of the queue it is in.
    var next: UInt {
        get { unsafe self.address.load(fromByteOffset: Self.linkOffset, as: UInt.self) }
        nonmutating set {
            unsafe self.address.storeBytes(of: newValue, toByteOffset: Self.linkOffset, as: UInt.self)
        }
    }

    /// What the item is.
    var kind: Kind {
        let word = unsafe self.address.load(fromByteOffset: Self.linkOffset + 8, as: UInt.self)
        // Only the initialisers write the word, and only raw values of the enumeration.
        return Kind(rawValue: word) ?? .closure
    }

    /// The item as a job; only for the two kinds that are one.
    var job: UnownedJob { unsafe unsafeBitCast(self.address, to: UnownedJob.self) }

    /// Takes the closure out and gives the node back; only for a closure, and only once.
    func takeBody() -> Body {
        let node = unsafe self.address.assumingMemoryBound(to: Node.self).move()
        unsafe self.address.deallocate()
        return node.body
    }
}

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
        // Only addresses of items that were appended or prepended are ever stored.
        guard let pointer = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return nil }
        return unsafe WorkItem(address: pointer)
    }
}

// A list is handed to the thread that takes over a loop's work; no other thread refers to its items.
extension WorkList: @unchecked Sendable {}
