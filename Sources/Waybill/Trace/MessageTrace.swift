internal import Synchronization
internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Traces messages and their replies while the sequence exists.
    ///
    /// ```swift
    /// for await event in try bus.trace(matching: "app://user/**") { print(event) }
    /// ```
    ///
    /// Without a trace, this feature costs nothing. With a trace, every delivery of the bus takes the
    /// slightly slower path of deliveries with middlewares. The trace runs before all middlewares, so its
    /// events contain the results that callers receive.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs to trace; nil for all URLs, including URLs without a handler.
    ///   - bufferLimit: The maximum number of unread events, beyond which the oldest ones are dropped and
    ///     counted.
    /// - Returns: The events that follow this call.
    /// - Throws: `invalidPattern`.
    public func trace(
        matching pattern: String? = nil,
        bufferLimit: Int = 1024
    ) throws(RoutingError) -> MessageTrace {
        let scope: RouteTable<Void>? =
            if let pattern { try self.core.currentConfiguration.scope(of: pattern) } else { nil }
        let (observer, stream) = Observer<MessageTrace.Event>.buffered(limit: bufferLimit)
        let wiretap = MiddlewareLink(Wiretap(observer))
        let registration = self.core.addMiddleware(wiretap, scope: scope, pattern: pattern ?? "**")
        return MessageTrace(tap: MessageTrace.Tap(stream, observer: observer, registration: registration))
    }
}

/// The messages, replies and failures of a bus as a sequence of events.
///
/// The trace begins with the call of ``MessageBus/trace(matching:bufferLimit:)``. It ends when the sequence
/// and its iterators are released, or when the bus ends. Deliveries do not wait for the reader.
///
/// The trace does not contain messages that fail before their delivery begins, because their deadline has
/// passed, the hop limit is exceeded or the mailbox is full. ``MessageBus/deadLetters`` contains these
/// messages if no caller awaited them.
public struct MessageTrace: AsyncSequence, Sendable {
    /// The sequence cannot fail.
    public typealias Failure = Never

    let tap: Tap

    /// The number of events that were dropped because they were not read in time.
    public var dropped: Int { self.tap.observer.dropped.load(ordering: .relaxed) }

    /// Returns an iterator over the events, each of which only one iterator of the trace receives.
    public func makeAsyncIterator() -> Iterator {
        Iterator(tap: self.tap, stream: self.tap.stream.makeAsyncIterator())
    }

    /// An iterator over the events.
    public struct Iterator: AsyncIteratorProtocol {
        let tap: Tap
        var stream: AsyncStream<Event>.AsyncIterator

        /// Returns the next event, or nil when the bus has ended or the task is cancelled.
        public mutating func next() async -> Event? { await self.next(isolation: #isolation) }

        /// Returns the next event to a caller that is isolated to an actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
            await EventLoop.yieldIfDue()
            return await self.stream.next(isolation: actor)
        }
    }

    /// The owner of a wiretap, which ends when all sequences and iterators of the trace are released.
    final class Tap: Sendable {
        let stream: AsyncStream<Event>
        let observer: Observer<Event>
        private let registration: Registration

        init(_ stream: AsyncStream<Event>, observer: Observer<Event>, registration: Registration) {
            self.stream = stream
            self.observer = observer
            self.registration = registration
        }

        deinit { self.registration.cancel() }
    }
}

extension MessageTrace {
    /// An event in the delivery of a message.
    public struct Event: Sendable {
        /// The kind of an event.
        public enum Kind: Sendable {
            /// The message is being delivered.
            case message
            /// The handler has sent a progress reply.
            case progress(any Sendable)
            /// The caller has answered a progress reply.
            case answer(any Sendable)
            /// The handler or a middleware has replied to the message.
            case reply(any Sendable)
            /// The message failed.
            case failure(RoutingError)
        }

        /// The kind of the event.
        public let kind: Kind

        /// The message of the event, as the caller sent it.
        public let message: Message

        /// The pattern that the message matched; nil when no pattern matched.
        public let pattern: String?

        /// The time of the event.
        public let time: ContinuousClock.Instant

        /// The time since the delivery of the message began.
        public let duration: Duration

        /// The ID of the message whose handler sent this message; nil when no handler sent it.
        ///
        /// A message that the caller routes to answer a progress reply also has the message as its cause. The
        /// cause of a message to a return URL is the message that it answers. A message is not recorded as a
        /// cause if its handler was already running when the trace began, or if another process sent it.
        public var cause: CorrelationID? { self.message.cause }
    }
}

extension MessageTrace.Event: CustomStringConvertible {
    /// One readable line with the ID, the kind and the URL, and the value or the failure with the duration.
    public var description: String {
        let (sign, rest) =
            switch self.kind {
            case .message: ("->", self.message.correlationID.map { " (answers \($0))" } ?? "")
            case .progress(let value): ("..", " after \(self.duration): \(value)")
            case .answer(let value): (">>", " after \(self.duration): \(value)")
            case .reply(let value): ("<-", " after \(self.duration): \(value)")
            case .failure(let error): ("!!", " after \(self.duration): \(error)")
            }
        return "\(self.message.id) \(sign) \(self.message.parameters.url.onShortLine)\(rest)".onOneLine
    }
}
