/// The route that an address leads to, and what the address says to it.
public struct RouteMatch: Sendable {
    /// The values of path and query.
    public var parameters: Parameters

    /// The route, to be looked up in the table that matched.
    @inlinable public var route: RouteID { RouteID(bits: self.parameters.route) }

    /// Whether there is a route at all.
    @inlinable var isFound: Bool { self.parameters.route != 0 }

    /// What stands for no match inside of the library.
    static var none: Self {
        @inline(__always) get {
            Self(
                parameters: Parameters(
                    text: "",
                    layout: AddressLayout(),
                    names: nil,
                    captures: Captures(),
                    route: 0
                )
            )
        }
    }

    /// The values, taken out of a match that is not needed any more; a property would copy them.
    @inlinable
    @inline(__always)
    package consuming func take() -> Parameters { self.parameters }
}
