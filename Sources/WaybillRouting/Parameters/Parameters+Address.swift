extension Parameters {
    /// The text of the address, without making an address of it.
    @inlinable package var url: String { self.text }

    /// The route that was matched.
    package var routeID: RouteID { RouteID(bits: self.route) }

    /// Whether the address has a fragment.
    package var hasFragment: Bool { self.layout.hasFragment }
}
