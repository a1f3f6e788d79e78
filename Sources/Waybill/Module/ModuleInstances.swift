/// How many instances of a module a bus makes, and which of them handles a message.
///
/// Each instance is an actor of its own on a loop of its own: what one knows, the others do not.
public struct ModuleInstances: Sendable, Hashable {
    enum Choice: Sendable, Hashable {
        case single
        case perLoop
        case keyed(String)
    }

    let choice: Choice

    /// One instance, on the bus's first loop.
    public static let single = Self(choice: .single)

    /// One instance on each loop of the bus.
    ///
    /// A caller on one of the loops is served by the instance there, without a hop; callers on other threads take turns.
    /// For modules that need not share what they know: they compute, or each has its own connection or cache.
    public static let perLoop = Self(choice: .perLoop)

    /// One instance on each loop of the bus, and all messages with one value of a parameter go to the same one.
    ///
    /// For modules that keep something for each user, order or session: it is spread over the loops, and never in two
    /// places. A message without the parameter goes to the first instance.
    ///
    /// - Parameter parameter: the name of the parameter, wherever it comes from: path, query or call.
    /// - Returns: the choice.
    public static func keyed(by parameter: String) -> Self { Self(choice: .keyed(parameter)) }
}
