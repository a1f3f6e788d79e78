extension Parameters {
    /// The text of the address, without making an address of it.
    @inlinable package var url: String { self.text }

    /// What stands for the parameters of no message, where an optional would be copied.
    @inline(__always)
    package static var none: Self { RouteMatch.none.parameters }

    /// The route that was matched.
    package var routeID: RouteID { RouteID(bits: self.route) }

    /// Whether the address has a fragment.
    package var hasFragment: Bool { self.layout.hasFragment }
}
