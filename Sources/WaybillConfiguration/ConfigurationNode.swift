#if Configuration

/// A part of a configuration file with its line, independent of the file's format.
struct ConfigurationNode {
    enum Value {
        case text(String)
        case list([ConfigurationNode])
        case map([(key: String, value: ConfigurationNode)])
        /// A value that a configuration cannot contain, with a description for the error.
        case other(String)
    }

    let value: Value
    /// The line of the value, from 1.
    ///
    /// For a value in a map, the line is the line of the key. The property is nil if the format has no lines.
    let line: Int?
}

#endif
