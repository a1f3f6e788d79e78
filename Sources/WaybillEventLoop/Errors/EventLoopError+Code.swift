extension EventLoopError {
    /// The kinds of failure; open-ended, so that a new kind breaks nobody.
    public struct Code: Hashable, Sendable {
        private enum Storage: String {
            case shutDown, system
        }

        private let storage: Storage

        /// The loop has shut down, or did so while somebody waited.
        public static let shutDown = Self(storage: .shutDown)

        /// The operating system refused: no file descriptors or memory left, or a signal that cannot be caught.
        public static let system = Self(storage: .system)
    }
}

extension EventLoopError.Code: CustomStringConvertible {
    /// The name of the code.
    public var description: String { self.storage.rawValue }
}
