public import WaybillRouting

/// What is shown, as a value: for each presenter the destinations from the bottom to the top.
///
/// It says nothing about views, and changes only by what a ``Navigator`` does. Read it, compare it, save it
/// as JSON or as URLs, and give it to ``Navigator/restore(_:)``. Two states are equal if they show the same
/// URLs in the same way, whenever each was made.
public struct NavigationState: Sendable {
    /// The name of a presenter: of a window, a tab, a side of a split view.
    public typealias PresenterID = String

    /// The presenter that a program with one presenter has.
    public static let mainPresenter: PresenterID = "main"

    /// The presenter that changed last, which shows what says no other.
    public internal(set) var active: PresenterID

    /// For each presenter that shows something, what it shows, the top last.
    public internal(set) var stacks: [PresenterID: [NavigationEntry]]

    var lastID = 0

    /// A state that shows nothing.
    public init() {
        self.active = Self.mainPresenter
        self.stacks = [:]
    }

    /// A state that shows URLs; for ``Navigator/restore(_:)``.
    ///
    /// - Parameters:
    ///   - urls: for each presenter the URLs from the bottom to the top, each with its transition, as
    ///     ``urls`` has them.
    ///   - active: the presenter that shows what says no other.
    ///   - conventions: how the bus reads URLs, so that transitions are seen.
    /// - Throws: `invalidURL`.
    public init(
        urls: [PresenterID: [String]],
        active: PresenterID = Self.mainPresenter,
        conventions: RoutingConventions = .navigation
    ) throws(RoutingError) {
        self.init()
        self.active = active
        for (presenter, urls) in urls.sorted(by: { $0.key < $1.key }) where !urls.isEmpty {
            var stack: [NavigationEntry] = []
            for url in urls {
                let address = try Address(url, conventions: conventions)
                self.lastID += 1
                stack.append(
                    NavigationEntry(
                        id: self.lastID,
                        url: address.url(with: nil),
                        link: address.url(with: address.transition ?? .push),
                        name: "",
                        transition: address.transition ?? .push
                    )
                )
            }
            self.stacks[presenter] = stack
        }
    }

    /// What a presenter shows.
    ///
    /// - Parameter presenter: which one; nil for the active one.
    /// - Returns: its entries, the top last.
    public func stack(of presenter: PresenterID? = nil) -> [NavigationEntry] {
        self.stacks[presenter ?? self.active] ?? []
    }

    /// What a presenter has on top.
    ///
    /// - Parameter presenter: which one; nil for the active one.
    /// - Returns: the entry; nil if it shows nothing.
    public func top(of presenter: PresenterID? = nil) -> NavigationEntry? { self.stack(of: presenter).last }

    /// What a presenter shows, apart by what is presented in front of the rest.
    ///
    /// - Parameter presenter: which one; nil for the active one.
    /// - Returns: the layers, the one at the bottom first.
    public func layers(of presenter: PresenterID? = nil) -> [[NavigationEntry]] {
        self.stack(of: presenter).reduce(into: []) { layers, entry in
            if layers.isEmpty || entry.transition == .present {
                layers.append([entry])
            } else {
                layers[layers.count - 1].append(entry)
            }
        }
    }

    /// For each presenter the URLs that bring the same destinations again, the bottom first.
    ///
    /// Values that were passed with a call, and are in no URL, are not saved.
    public var urls: [PresenterID: [String]] { self.stacks.mapValues { $0.map(\.link) } }
}

/// One destination that is shown.
public struct NavigationEntry: Sendable, Codable, Identifiable {
    /// Which one it is; no other entry of a navigator has the same.
    public let id: Int
    /// The URL, without transition and fragment.
    public internal(set) var url: String
    /// The URL that brings it again in the same way.
    public internal(set) var link: String
    /// What the destination is called.
    public internal(set) var name: String
    /// What brought it.
    public internal(set) var transition: RouteTransition
}

extension NavigationEntry: Hashable {
    /// Compares what is shown, and how, and not which entry it is.
    public static func == (left: Self, right: Self) -> Bool {
        left.url == right.url && left.transition == right.transition
    }

    /// Hashes the same.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.url)
        hasher.combine(self.transition)
    }
}

extension NavigationState: Hashable {
    /// Compares what is shown, and how.
    public static func == (left: Self, right: Self) -> Bool {
        left.active == right.active && left.stacks == right.stacks
    }

    /// Hashes the same.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.active)
        hasher.combine(self.stacks)
    }
}

extension NavigationState: Codable {}

extension NavigationState: CustomStringConvertible {
    /// For each presenter a line with its URLs.
    public var description: String {
        self.stacks.sorted { $0.key < $1.key }
            .map { "\($0.key): " + $0.value.map(\.link).joined(separator: " > ") }
            .joined(separator: "\n")
    }
}
