extension ClusterNode {
    /// The format in which a node sends its publications to other nodes.
    ///
    /// Every node reads all formats.
    ///
    /// Choose events when programs that are not nodes listen. They subscribe to the subjects of
    /// <doc:ScalingOut> and need only a CloudEvents library. An event does not carry the number of hops, and
    /// carries no headers except the headers of a trace.
    public struct PublicationFormat: Hashable, Sendable {
        let mode: EventMode?

        /// JSON-RPC, which carries every property of the message; the default.
        public static let jsonRPC = Self(mode: nil)

        /// CloudEvents 1.0 events in the structured mode: the payload is the whole event.
        public static let structuredEvents = Self(mode: .structured)

        /// CloudEvents 1.0 events in the binary mode: the payload is the data, and the attributes are
        /// headers.
        public static let binaryEvents = Self(mode: .binary)
    }
}
