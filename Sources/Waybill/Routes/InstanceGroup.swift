internal import Synchronization
internal import WaybillRouting

/// The handlers of one route in the instances of a module, each on a different loop.
///
/// A group with one handler represents a configured target that adds values to messages.
final class InstanceGroup: Sendable {
    let members: [Handler]
    let choice: ModuleInstances.Choice
    /// The configured target, whose values are added to each message; nil when the route is not configured.
    let configured: ConfiguredTarget?

    /// A counter that selects the next member for a caller whose thread runs no loop of the bus.
    private let turn = Atomic<Int>(0)

    init(_ members: [Handler], by choice: ModuleInstances.Choice, configured: ConfiguredTarget? = nil) {
        self.members = members
        self.choice = choice
        self.configured = configured
    }

    /// Returns the member that handles a message, and the parameters of the message.
    @inline(never)
    func resolve(
        _ parameters: Parameters,
        _ passed: PassedValues?,
        on loop: ObjectIdentifier?
    ) -> ResolvedRoute {
        let parameters = self.configured?.applied(to: parameters, self.members[0].core) ?? parameters
        return (.handler(self.member(on: loop, parameters, passed)), parameters)
    }

    private func member(
        on loop: ObjectIdentifier?,
        _ parameters: borrowing Parameters,
        _ passed: PassedValues?
    ) -> Handler {
        if case .keyed(let name) = self.choice {
            let key =
                if let value = passed?[name] { Parameters.text(ofOptional: value) } else { parameters[name] }
            guard let key else { return self.members[0] }
            return self.members[Int(bitPattern: Self.hash(key) % UInt(self.members.count))]
        }
        if let loop, let member = self.members.first(where: { $0.loop == loop }) { return member }
        // Skip instances whose loop has stopped.
        for _ in 1..<self.members.count {
            let member = self.nextMember()
            if !member.isGone { return member }
        }
        return self.nextMember()
    }

    private func nextMember() -> Handler {
        let turn = self.turn.wrappingAdd(1, ordering: .relaxed).newValue
        return self.members[Int(bitPattern: UInt(bitPattern: turn) % UInt(self.members.count))]
    }

    /// Returns the FNV-1a hash of a key.
    ///
    /// The standard library's hash has a different seed in each run. This hash maps a key to the same
    /// instance in each run, so that the logs of two runs can be compared.
    private static func hash(_ key: String) -> UInt {
        key.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt($1)) &* 0x100_0000_01b3 }
    }
}

/// The number of instances of a module on a bus, and the rule that selects the instance for a message.
///
/// Each instance is a separate actor on a separate loop. The instances share no state.
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
    /// The instance on the caller's loop serves a caller on one of the loops, without a switch of threads.
    /// Callers on other threads are distributed over the instances in turn. Use this choice for modules
    /// without shared state, for example modules that only compute, or modules whose instances each have a
    /// connection or a cache.
    public static let perLoop = Self(choice: .perLoop)

    /// Returns a choice of one instance on each loop, where the value of a parameter selects the instance.
    ///
    /// All messages with the same value of the parameter are delivered to the same instance. Use this choice
    /// for modules that keep state for each user, order or session. A message without the parameter is
    /// delivered to the first instance.
    ///
    /// - Parameter parameter: The name of the parameter, which may come from the path, the query or the call.
    /// - Returns: The choice.
    public static func keyed(by parameter: String) -> Self { Self(choice: .keyed(parameter)) }
}
