/// One thing for a loop to run: the job of an actor, the job of a task, or a plain closure.
///
/// An item is the address of memory whose third word links it to the next and whose fourth says what it is. The runtime
/// reserves these very words of a job for the executor that holds it (`SchedulerPrivate`), so queuing one allocates
/// nothing; a closure gets a node of the same shape. A test checks that the words are where this type thinks.
@safe
struct WorkItem {
    enum Kind: UInt {
        case actorJob
        case taskJob
        case closure
    }

    typealias Body = @Sendable () -> Void

    /// A closure as it is: stored by itself in untyped memory it would be wrapped in an allocation of its own.
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
