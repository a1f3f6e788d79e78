extension Actions {
    /// Something that a target does, as a ``NativeConnector`` finds it.
    public struct Action: Sendable {
        /// Whether an action is called with values.
        ///
        /// Two actions of one target may differ in nothing else: `app://user/log` and `app://user/log?text=hi` may be two.
        public enum Values: Sendable, Hashable {
            /// It is called for URLs without values.
            case none
            /// It is called for URLs with values, or with values passed by the caller.
            case needed
            /// It is called for both, unless another action of the same name fits better.
            case optional
        }

        /// The name that a URL's last segment has to have, in its case.
        public let name: String

        /// The name of the target, as it was declared.
        public let target: String

        /// Whether it is called with values.
        public let values: Values

        let body: @Sendable (Message) async throws -> any Sendable

        /// How well it fits: less is better, nil if it does not.
        func distance(hasValues: Bool) -> Int? {
            switch (self.values, hasValues) {
            case (.needed, true), (.none, false): 0
            case (.optional, _): 1
            case (.needed, false), (.none, true): nil
            }
        }
    }
}
