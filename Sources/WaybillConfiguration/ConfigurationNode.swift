#if Configuration

/// A value in a configuration file with its line, independent of the file's format.
struct ConfigurationNode {
    enum Value {
        case text(String)
        case list([ConfigurationNode])
        case map([(key: String, value: ConfigurationNode)])
        /// A value that a configuration cannot have, with its description.
        case other(String)
    }

    let value: Value
    /// The line of the value, from 1; of a map's value the line of its key.
    let line: Int?
}

#endif
