extension ClusterNode {
    /// The format in which a node sends its publications to other nodes.
    ///
    /// Every node can read all formats.
    ///
    /// Choose events when programs that are not nodes receive the publications. These programs subscribe to
    /// the subjects of <doc:ScalingOut> and need only a CloudEvents library. An event does not contain the
    /// hops (the number of routed messages that led to the message), and contains no headers except the
    /// headers of a trace. If a node has many subscribers, an event can reach some of them after a later event.
    public struct PublicationFormat: Hashable, Sendable {
        let mode: EventMode?

        /// JSON-RPC, which carries every property of the message; the default.
        public static let jsonRPC = Self(mode: nil)

        /// CloudEvents 1.0 events in the structured mode, in which the payload is the whole event.
        public static let structuredEvents = Self(mode: .structured)

        /// CloudEvents 1.0 events in the binary mode.
        ///
        /// The payload is the data, and the headers contain the attributes.
        public static let binaryEvents = Self(mode: .binary)
    }
}
