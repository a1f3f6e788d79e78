internal import ArgumentParser

/// How replies are printed.
enum ReplyFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// One line of JSON for each reply.
    case json
    /// What the value says of itself, for people.
    case text
}
