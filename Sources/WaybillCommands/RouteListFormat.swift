#if Tool

/// How a list of routes is written.
public enum RouteListFormat: String, Sendable, CaseIterable {
    /// Columns, for a terminal.
    case table
    /// An array with an object for each route, for programs.
    case json
    /// A page with a section for each module, for people.
    case markdown
}

#endif
