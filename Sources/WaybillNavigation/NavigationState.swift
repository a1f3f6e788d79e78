public import WaybillRouting

/// The shown destinations as a value.
///
/// The value lists the destinations of each presenter from the bottom to the top.
///
/// A state contains no views, and only a ``Navigator`` changes it. You can read a state, compare it, save it
/// as JSON or as URLs, and pass it to ``Navigator/restore(_:)``. Two states are equal if they show the same
/// URLs with the same transitions. The IDs of the entries are not compared.
public struct NavigationState: Sendable {
    /// The name of a presenter, for example of a window, of a tab, or of one side of a split view.
    public typealias PresenterID = String

    /// The presenter's name in a program with one presenter.
    public static let mainPresenter: PresenterID = "main"

    /// The presenter that showed the last change or was activated later.
    ///
    /// The active presenter shows the requests that name no presenter.
    public internal(set) var active: PresenterID

    /// The entries of each presenter that shows at least one destination, with the top entry last.
    public internal(set) var stacks: [PresenterID: [NavigationEntry]]

    var lastID = 0

    /// Creates a state that shows nothing.
    public init() {
        self.active = Self.mainPresenter
        self.stacks = [:]
    }

    /// Creates a state that shows URLs, for ``Navigator/restore(_:)``.
    ///
    /// - Parameters:
    ///   - urls: The URLs of each presenter from the bottom to the top, each with its transition, as in
    ///     ``urls``.
    ///   - active: The presenter that shows the requests that name no presenter.
    ///   - conventions: The bus's conventions, which define the transitions in URLs.
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

    /// Returns the entries of a presenter.
    ///
    /// - Parameter presenter: The name of the presenter; nil for the active presenter.
    /// - Returns: The entries, with the top last.
    public func stack(of presenter: PresenterID? = nil) -> [NavigationEntry] {
        self.stacks[presenter ?? self.active] ?? []
    }

    /// Returns the top entry of a presenter.
    ///
    /// - Parameter presenter: The name of the presenter; nil for the active presenter.
    /// - Returns: The entry; nil if the presenter shows nothing.
    public func top(of presenter: PresenterID? = nil) -> NavigationEntry? { self.stack(of: presenter).last }

    /// Returns the entries of a presenter in layers.
    ///
    /// Each presented entry begins a new layer.
    ///
    /// - Parameter presenter: The name of the presenter; nil for the active presenter.
    /// - Returns: The layers, with the bottom layer first.
    public func layers(of presenter: PresenterID? = nil) -> [[NavigationEntry]] {
        self.stack(of: presenter).reduce(into: []) { layers, entry in
            if layers.isEmpty || entry.transition == .present {
                layers.append([entry])
            } else {
                layers[layers.count - 1].append(entry)
            }
        }
    }

    /// The URLs of each presenter that show the same destinations again, with the bottom first.
    ///
    /// Values that a caller passed outside the URL are not saved.
    public var urls: [PresenterID: [String]] { self.stacks.mapValues { $0.map(\.link) } }
}

/// A destination that is shown, without its value.
public struct NavigationEntry: Sendable, Codable, Identifiable {
    /// The ID of the entry, which is unique in its navigator.
    public let id: Int
    /// The URL, without transition and fragment.
    public internal(set) var url: String
    /// The URL that shows the destination again in the same way.
    public internal(set) var link: String
    /// The name of the destination.
    public internal(set) var name: String
    /// The transition that showed the destination.
    public internal(set) var transition: RouteTransition
}

extension NavigationEntry: Hashable {
    /// Compares the URLs and the transitions.
    ///
    /// The IDs are not compared.
    public static func == (left: Self, right: Self) -> Bool {
        left.url == right.url && left.transition == right.transition
    }

    /// Hashes the URL and the transition.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.url)
        hasher.combine(self.transition)
    }
}

extension NavigationState: Hashable {
    /// Compares the active presenter and the stacks.
    public static func == (left: Self, right: Self) -> Bool {
        left.active == right.active && left.stacks == right.stacks
    }

    /// Hashes the active presenter and the stacks.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.active)
        hasher.combine(self.stacks)
    }
}

extension NavigationState: Codable {}

extension NavigationState: CustomStringConvertible {
    /// One line for each presenter, with its URLs.
    public var description: String {
        self.stacks.sorted { $0.key < $1.key }
            .map { "\($0.key): " + $0.value.map(\.link).joined(separator: " > ") }
            .joined(separator: "\n")
    }
}
