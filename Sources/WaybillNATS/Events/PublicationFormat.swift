extension ClusterNode {
    /// How the publications of a node travel to others; each node reads all formats.
    ///
    /// Choose events if programs that are no nodes listen: they subscribe to the subjects of
    /// <doc:ScalingOut>, and need no more than a library of CloudEvents. What an event has no attribute for
    /// does not cross then: headers other than those of a trace, and the number of hops.
    public struct PublicationFormat: Hashable, Sendable {
        let mode: EventMode?

        /// JSON-RPC, with all that is true of the message; the default.
        public static let jsonRPC = Self(mode: nil)

        /// Events of CloudEvents 1.0 in the structured mode: the payload is the whole event.
        public static let structuredEvents = Self(mode: .structured)

        /// Events of CloudEvents 1.0 in the binary mode: the payload is the data, and the attributes are
        /// headers.
        public static let binaryEvents = Self(mode: .binary)
    }
}
