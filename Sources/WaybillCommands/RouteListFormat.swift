#if Tool

/// The format of a printed list of routes.
public enum RouteListFormat: String, Sendable, CaseIterable {
    /// Columns, for a terminal.
    case table
    /// An array with an object for each route, for programs.
    case json
    /// A page with a section for each module, for people.
    case markdown
}

#endif
