internal import ArgumentParser

/// The format of printed replies.
enum ReplyFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// One line of JSON for each reply.
    case json
    /// The description of the value as readable text.
    case text
}
