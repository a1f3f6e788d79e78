public import WaybillRouting

/// The shown destinations as a value: the stack of each presenter, from bottom to top.
///
/// The state does not contain views, and only a ``Navigator`` changes it. Read it, compare it, save it as
/// JSON or as URLs, and restore it with ``Navigator/restore(_:)``. Two states are equal if they show the same
/// URLs in the same way, and have the same active presenter.
public struct NavigationState: Sendable {
    /// The name of a presenter: of a window, a tab, a side of a split view.
    public typealias PresenterID = String

    /// The presenter that a program with one presenter has.
    public static let mainPresenter: PresenterID = "main"

    /// The presenter that changed last.
    ///
    /// It shows requests that name no presenter.
    public internal(set) var active: PresenterID

    /// The stack of each presenter that shows destinations, top last.
    public internal(set) var stacks: [PresenterID: [NavigationEntry]]

    var lastID = 0

    /// A state that shows nothing.
    public init() {
        self.active = Self.mainPresenter
        self.stacks = [:]
    }

    /// Creates a state that shows URLs, for ``Navigator/restore(_:)``.
    ///
    /// - Parameters:
    ///   - urls: The URLs of each presenter from bottom to top, each with its transition, as in ``urls``.
    ///   - active: The presenter of requests that name none.
    ///   - conventions: The URL conventions of the bus, which define the transitions.
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

    /// Returns the stack of a presenter.
    ///
    /// - Parameter presenter: The presenter; nil for the active one.
    /// - Returns: The entries, top last.
    public func stack(of presenter: PresenterID? = nil) -> [NavigationEntry] {
        self.stacks[presenter ?? self.active] ?? []
    }

    /// Returns the top of a presenter's stack.
    ///
    /// - Parameter presenter: The presenter; nil for the active one.
    /// - Returns: The entry, or nil if the stack is empty.
    public func top(of presenter: PresenterID? = nil) -> NavigationEntry? { self.stack(of: presenter).last }

    /// Returns the stack of a presenter, split at the presented destinations.
    ///
    /// - Parameter presenter: The presenter; nil for the active one.
    /// - Returns: The layers, bottom first.
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
    /// The name of the destination.
    public internal(set) var name: String
    /// The transition that added the destination.
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
