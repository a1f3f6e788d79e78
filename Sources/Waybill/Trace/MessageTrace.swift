internal import Synchronization
internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Traces messages and their replies, for as long as the sequence is read.
    ///
    /// ```swift
    /// for await event in try bus.trace(matching: "app://user/**") { print(event) }
    /// ```
    ///
    /// Off, it costs nothing; on, it slows down every delivery of the bus a little, since they take the path
    /// of deliveries with middlewares. It is around all middlewares, and so sees what the caller sees.
    ///
    /// - Parameters:
    ///   - pattern: the pattern of the URLs that are of interest; nil for all, those without a handler
    ///     included.
    ///   - bufferLimit: how many unread events to keep; the oldest are dropped for newer ones, and counted.
    /// - Returns: the events, from now on.
    /// - Throws: `invalidPattern`.
    public func trace(
        matching pattern: String? = nil,
        bufferLimit: Int = 1024
    ) throws(RoutingError) -> MessageTrace {
        let scope: RouteTable<Void>? =
            if let pattern { try self.core.currentConfiguration.scope(of: pattern) } else { nil }
        let (stream, continuation) = AsyncStream.makeStream(
            of: MessageTrace.Event.self,
            bufferingPolicy: .bufferingNewest(max(1, bufferLimit))
        )
        let wiretap = Wiretap(continuation)
        let registration = self.core.intercept(pattern: pattern) { $0.add(wiretap, scope: scope) }
        return MessageTrace(tap: MessageTrace.Tap(stream, wiretap.losses, registration))
    }
}

/// What passes through a bus, as it passes: messages, replies, and failures.
///
/// ```swift
/// for await event in try bus.trace(matching: "app://user/**") { print(event) }
/// ```
///
/// It begins with the call of ``MessageBus/trace(matching:bufferLimit:)``, and ends when the sequence and its
/// iterators are gone, or the bus is. It holds what has not been read yet, up to a limit; then the oldest
/// events go, and are counted. Deliveries do not wait for the reader. What ends before its delivery begins,
/// since it is late, at the hop limit or finds its mailbox full, is not in it; ``MessageBus/deadLetters`` has
/// what no caller awaited.
public struct MessageTrace: AsyncSequence, Sendable {
    /// It fails never.
    public typealias Failure = Never

    let tap: Tap

    /// How many events were dropped because they were not read in time.
    public var dropped: Int { self.tap.losses.count.load(ordering: .relaxed) }

    /// Begins to read; several iterators share the events.
    public func makeAsyncIterator() -> Iterator {
        Iterator(tap: self.tap, stream: self.tap.stream.makeAsyncIterator())
    }

    /// The events, one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let tap: Tap
        var stream: AsyncStream<Event>.AsyncIterator

        /// The next event, or nil when the bus has ended or the task is cancelled.
        public mutating func next() async -> Event? { await self.next(isolation: #isolation) }

        /// The next event, for a caller that is isolated to an actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
            await EventLoop.yieldIfDue()
            return await self.stream.next(isolation: actor)
        }
    }

    /// Removes the wiretap when all its sequences and iterators are released.
    final class Tap: Sendable {
        let stream: AsyncStream<Event>
        let losses: Wiretap.Losses
        private let registration: Registration

        init(
            _ stream: AsyncStream<Event>,
            _ losses: Wiretap.Losses,
            _ registration: Registration
        ) {
            self.stream = stream
            self.losses = losses
            self.registration = registration
        }

        deinit { self.registration.cancel() }
    }
}

extension MessageTrace {
    /// Something that happened to a message.
    public struct Event: Sendable {
        /// What happened.
        public enum Kind: Sendable {
            /// The message is on its way.
            case message
            /// Its handler has sent a progress reply.
            case progress(any Sendable)
            /// Its caller has answered a progress reply.
            case answer(any Sendable)
            /// It was answered.
            case reply(any Sendable)
            /// It was not.
            case failure(RoutingError)
        }

        /// What happened.
        public let kind: Kind

        /// The message, as its caller sent it.
        public let message: Message

        /// The pattern that it matched, if any.
        public let pattern: String?

        /// When it happened.
        public let time: ContinuousClock.Instant

        /// How long the message had been on its way.
        public let duration: Duration

        /// The ID of the message whose handler sent this one; nil if no handler did.
        ///
        /// It ties together all that one message leads to: what its handler routes, sends and publishes, and
        /// what the caller routes to answer a progress reply. The cause of a return leg is the message that
        /// it answers. A handler that was called before the bus was traced is no cause, and neither is one of
        /// another process.
        public var cause: CorrelationID? { self.message.cause }
    }
}

extension MessageTrace.Event: CustomStringConvertible {
    /// One readable line: the ID, what happened, the URL, and the value or the failure with the time that it
    /// took.
    public var description: String {
        let url = self.message.parameters.url.onShortLine
        switch self.kind {
        case .message:
            let answer = self.message.correlationID.map { " (answers \($0))" } ?? ""
            return "\(self.message.id) -> \(url)\(answer)".onOneLine
        case .progress(let value):
            return "\(self.message.id) .. \(url) after \(self.duration): \(value)".onOneLine
        case .answer(let value):
            return "\(self.message.id) >> \(url) after \(self.duration): \(value)".onOneLine
        case .reply(let value):
            return "\(self.message.id) <- \(url) after \(self.duration): \(value)".onOneLine
        case .failure(let error):
            return "\(self.message.id) !! \(url) after \(self.duration): \(error)".onOneLine
        }
    }
}
