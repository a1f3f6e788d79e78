internal import Waybill
internal import WaybillRouting

/// The decisions of a navigator, as a value.
///
/// This value decides which step is made, and ``Navigator`` makes the step. When a step begins, the shown
/// state does not change. The step is then either committed or abandoned.
struct NavigationMachine {
    typealias PresenterID = NavigationState.PresenterID

    /// A change of the shown destinations that a navigator was asked to make.
    enum Step: Equatable {
        /// Adds a new destination.
        case add(Draft)
        /// Changes the URL of an existing destination, and removes the destinations above it.
        case reuse(Int, Draft)
        /// Undoes the steps that showed the top destinations, a number of times.
        case back(Int)
        /// Removes the destinations above an entry.
        case backTo(Int)
        /// Removes one destination at any position.
        case remove(Int)
        /// Replaces all destinations with new destinations.
        case replace([Draft])
    }

    /// A destination that has no entry yet.
    struct Draft: Equatable {
        var url: String
        var link: String
        var name = ""
        var transition = RouteTransition.push
    }

    /// The effect of a step on the destinations of one presenter.
    struct Plan: Equatable {
        let presenter: PresenterID
        let before: [NavigationEntry]
        let after: [NavigationEntry]
        /// The new entries, the bottom first.
        var added: [NavigationEntry] = []
        /// The removed entries, the top first.
        var removed: [NavigationEntry] = []
        /// The entry that stays, with another URL.
        var updated: NavigationEntry?
    }

    /// The reason why a step cannot begin.
    enum Refusal: Error, Equatable {
        case busy
        case nothingBelow(wanted: Int, there: Int)
        case notThere
        case isRoot
        case nothingToEmbedIn

        /// The error for the caller.
        var error: RoutingError { .refused(self.message) }

        private var message: String {
            switch self {
            case .busy: "another navigation step is in progress: wait until it ends"
            case .nothingBelow(let wanted, let there):
                "cannot go back by \(wanted): \(there) destinations are below"
            case .notThere: "the destination is not shown"
            case .isRoot: "the root cannot be removed: replace it with another root"
            case .nothingToEmbedIn: "no destination on the screen can contain the new destination"
            }
        }
    }

    private(set) var state = NavigationState()
    private var pending: NavigationState?

    mutating func begin(_ step: Step, on presenter: PresenterID) throws(Refusal) -> Plan {
        guard self.pending == nil else { throw .busy }
        var next = self.state
        let plan = try Self.plan(step, on: presenter, &next)
        next.stacks[presenter] = plan.after.isEmpty ? nil : plan.after
        next.active = presenter
        self.pending = next
        return plan
    }

    /// Ends the pending step successfully, and makes the state of the step the current state.
    mutating func commit() {
        guard let next = self.pending.take() else {
            preconditionFailure("internal error: a navigation step was committed without being pending")
        }
        self.state = next
    }

    /// Abandons the pending step without a change.
    mutating func giveUp() {
        // The IDs of the abandoned step are not used again, because the presenter may have received them.
        if let next = self.pending.take() { self.state.lastID = next.lastID }
    }

    /// Makes a presenter active, so that it shows the requests that name no presenter.
    mutating func activate(_ presenter: PresenterID) { self.state.active = presenter }

    /// Returns the presenter that shows an entry, and the entry's index.
    func place(of id: Int) -> (presenter: PresenterID, index: Int)? {
        for (presenter, stack) in self.state.stacks {
            if let index = stack.firstIndex(where: { $0.id == id }) { return (presenter, index) }
        }
        return nil
    }
}

extension NavigationMachine {
    private static func plan(
        _ step: Step,
        on presenter: PresenterID,
        _ next: inout NavigationState
    ) throws(Refusal) -> Plan {
        let before = next.stacks[presenter] ?? []
        switch step {
        case .add(let draft):
            if draft.transition == .embed, before.isEmpty { throw .nothingToEmbedIn }
            let entry = next.entry(draft)
            let kept = draft.transition == .root ? [] : before
            return Plan(presenter, before: before, after: kept + [entry], added: [entry])
        case .reuse(let id, let draft):
            let index = try self.index(of: id, before)
            var after = before[...self.lastPart(of: index, before)]
            after[index].url = draft.url
            after[index].name = draft.name
            after[index].link = draft.link
            if draft.transition == .root {
                after = after[index...]
                after[index].transition = .root
            }
            return Plan(presenter, before: before, after: Array(after), updated: after[index])
        case .back(let count):
            guard count > 0, count < before.count else {
                throw .nothingBelow(wanted: count, there: max(0, before.count - 1))
            }
            return Plan(presenter, before: before, after: before.dropLast(count))
        case .backTo(let id):
            let index = try self.index(of: id, before)
            return Plan(presenter, before: before, after: Array(before[...self.lastPart(of: index, before)]))
        case .remove(let id):
            let index = try self.index(of: id, before)
            guard index > 0 else { throw .isRoot }
            let isLayer = before[index].transition == .present
            let end = isLayer ? before.count - 1 : self.lastPart(of: index, before)
            return Plan(presenter, before: before, after: Array(before[..<index] + before[(end + 1)...]))
        case .replace(let drafts):
            let entries = drafts.map { next.entry($0) }
            return Plan(presenter, before: before, after: entries, added: entries)
        }
    }

    private static func index(of id: Int, _ stack: [NavigationEntry]) throws(Refusal) -> Int {
        guard let index = stack.firstIndex(where: { $0.id == id }) else { throw .notThere }
        return index
    }

    /// Returns the index of the last entry that is embedded in an entry, or the index of the entry itself.
    private static func lastPart(of index: Int, _ stack: [NavigationEntry]) -> Int {
        guard stack[index].transition != .embed else { return index }
        var last = index
        while last + 1 < stack.count, stack[last + 1].transition == .embed { last += 1 }
        return last
    }
}

extension NavigationMachine.Plan {
    fileprivate init(
        _ presenter: NavigationState.PresenterID,
        before: [NavigationEntry],
        after: [NavigationEntry],
        added: [NavigationEntry] = [],
        updated: NavigationEntry? = nil
    ) {
        let kept = Set(after.map(\.id))
        let removed = before.reversed().filter { !kept.contains($0.id) }
        self.init(
            presenter: presenter,
            before: before,
            after: after,
            added: added,
            removed: removed,
            updated: updated
        )
    }
}

extension NavigationState {
    fileprivate mutating func entry(_ draft: NavigationMachine.Draft) -> NavigationEntry {
        self.lastID += 1
        return NavigationEntry(
            id: self.lastID,
            url: draft.url,
            link: draft.link,
            name: draft.name,
            transition: draft.transition
        )
    }
}
