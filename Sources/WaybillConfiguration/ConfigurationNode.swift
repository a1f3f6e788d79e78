#if Configuration

/// What a file of a configuration says, whatever its format, and on which line.
struct ConfigurationNode {
    enum Value {
        case text(String)
        case list([ConfigurationNode])
        case map([(key: String, value: ConfigurationNode)])
        /// Something that has no place in a configuration, as it is called.
        case other(String)
    }

    let value: Value
    /// The line of the value, from 1; of a map's value the line of its key.
    let line: Int?
}

#endif
