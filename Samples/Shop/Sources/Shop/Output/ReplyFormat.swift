internal import ArgumentParser

/// How replies are printed.
enum ReplyFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// One line of JSON for each reply.
    case json
    /// The description of the value, for people.
    case text
}
