internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The handlers of one route in several instances of a module, one on each loop; or the one that a configured
/// target with values leads to.
final class InstanceGroup: Sendable {
    let members: [Handler]
    let choice: ModuleInstances.Choice
    /// The target whose values each message gets beside those of its own URL, if the route is a configured
    /// one.
    let configured: ConfiguredTarget?

    /// The member whose turn it is to serve a caller from outside of the bus's loops.
    private let turn = Atomic<Int>(0)

    private let latestDescription = Locked<Handler.Description?>(nil)

    init(_ members: [Handler], _ choice: ModuleInstances.Choice, _ configured: ConfiguredTarget? = nil) {
        self.members = members
        self.choice = choice
        self.configured = configured
    }

    /// What the group is registered for, also after that has ended.
    var description: Handler.Description? { self.latestDescription.withLock { $0 } }

    func describe(as description: Handler.Description) {
        self.latestDescription.withLock { $0 = description }
    }

    /// Returns the member that handles a message, and the values that it gets.
    ///
    /// - Parameters:
    ///   - parameters: The parameters of the message's URL.
    ///   - passed: The values that are passed with the call, which win over those of the URL.
    ///   - loop: The loop that the caller is on, if it is one of the bus's.
    /// - Returns: The member, and its parameters.
    @inline(never)
    func resolve(
        _ parameters: Parameters,
        _ passed: PassedValues?,
        on loop: ObjectIdentifier?
    ) -> ResolvedRoute {
        let parameters = self.configured?.applied(to: parameters, self.members[0].core) ?? parameters
        let member = self.member(on: loop, parameters, passed)
        return (.handler(member), parameters)
    }

    private func member(
        on loop: ObjectIdentifier?,
        _ parameters: borrowing Parameters,
        _ passed: PassedValues?
    ) -> Handler {
        if case .keyed(let name) = self.choice {
            guard let key = passed?[name].map(Parameters.text(of:)) ?? parameters[name] else {
                return self.members[0]
            }
            return self.members[Int(bitPattern: Self.hash(key) % UInt(self.members.count))]
        }
        if let loop, let member = self.members.first(where: { $0.loop == loop }) { return member }
        // The next member takes the turn of an instance whose loop has stopped.
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

    /// FNV-1a: unlike the standard library's, it maps a key to the same instance in each run, so that logs
    /// can be compared.
    private static func hash(_ key: String) -> UInt {
        key.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt($1)) &* 0x100_0000_01b3 }
    }
}

/// How many instances of a module a bus makes, and which of them handles a message.
///
/// Each instance is an actor of its own on a loop of its own: they share no state.
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
    /// A caller on one of the loops is served by the instance there, without a hop; callers on other threads
    /// take turns. For modules without shared state: they compute, or each has its own connection or cache.
    public static let perLoop = Self(choice: .perLoop)

    /// One instance on each loop of the bus, and all messages with one value of a parameter go to the same
    /// one.
    ///
    /// For modules that keep something for each user, order or session: it is spread over the loops, and
    /// never in two places. A message without the parameter goes to the first instance.
    ///
    /// - Parameter parameter: the name of the parameter, wherever it comes from: path, query or call.
    /// - Returns: the choice.
    public static func keyed(by parameter: String) -> Self { Self(choice: .keyed(parameter)) }
}
