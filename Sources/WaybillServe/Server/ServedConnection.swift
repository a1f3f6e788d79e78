internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The part of a session that only a connection to a server has.
///
/// A connection may have to send a token, shares the limits of the server with other connections
/// (``ServerLoad``), and is closed when its peer exceeds a time limit. The object belongs to its session,
/// which is a parameter of each method. The session of a node or of a client in a cluster has no such object.
final class ServedConnection {
    let channel: FrameChannel
    let ledger: ServerLedger
    /// The resources that the connections of the server share.
    let load: ServerLoad
    /// The memory of the messages that wait for the subscriptions of the peer.
    let subscriptionMemory: SubscriptionMemory
    /// The number of the connection in ``load``, which is assigned when the connection is served.
    private(set) var number = 0
    private let token: BearerToken?
    private let openedAt: ContinuousClock.Instant
    /// Whether the peer has not sent its first message, which must contain the token if the server has one.
    private var awaitsFirstMessage = true
    /// The limit on the rate of messages.
    var bucket: TokenBucket
    /// The number of messages that have been handled.
    private var messages = 0
    /// Whether the task that reads the connection is handling a message, after which the task can suspend.
    private(set) var isHandling = false
    /// The remaining messages of a `$/publish` notification, which the reading task publishes next.
    var unpublished: RPCPublications?
    /// The number of `$/publish` notifications that have waited for their turns and are not published yet.
    var unfinishedRests = 0
    /// The calls and messages that wait for permission to run.
    var waitingCalls = WaitingCalls()
    /// The number of waiting calls that have given their places back until the peer has read its answers.
    var callsWithoutPlace = 0
    /// The size of the frame that is being received or handled, in bytes; 0 for a small frame.
    var frameBytes = 0
    /// The number of bytes that this connection has reported to the counter of the whole server.
    var countedBytes = 0

    /// The maximum size of a message before the peer has sent its token, in bytes.
    private static let unauthenticatedFrameSize = 4096
    /// The number of messages after which the connection yields to the other connections.
    private static let messagesPerTurn = 2

    init(_ stream: StreamConnection, of server: RPCServerCore) {
        let limits = server.configuration.limits
        let token = server.configuration.token.map { BearerToken($0) }
        self.channel = FrameChannel(
            stream,
            limit: token == nil ? limits.frameSize : min(Self.unauthenticatedFrameSize, limits.frameSize)
        )
        self.ledger = server.ledger
        self.load = server.load
        self.subscriptionMemory = SubscriptionMemory(
            limit: limits.subscriptionBytes,
            inside: server.load.subscriptionMemory
        )
        self.token = token
        self.openedAt = server.eventLoop.time.instant
        self.bucket = TokenBucket(perSecond: limits.requestsPerSecond, at: self.openedAt)
    }
}

extension RPCSession {
    /// Serves the peer of a connection until the peer disconnects or the task is cancelled.
    ///
    /// The cancellation of the task closes the connection at once.
    func run() async {
        guard let connection = self.connection else { return }
        let stream = connection.channel.connection
        await withTaskCancellationHandler {
            await connection.serve(self)
        } onCancel: {
            stream.abort()
        }
    }
}

// Reading.
extension ServedConnection {
    fileprivate func serve(_ session: isolated RPCSession) async {
        self.number = self.load.assumeOnLoop { $0.open(session) }
        do {
            while let text = try await self.channel.next(
                isFlushing: true,
                checkingPart: { size throws(FrameError) in try self.checkPart(of: size, in: session) }
            ) {
                self.setFrameBytes(text.range.count, in: session)
                let limit = session.limits.messagesPerBatch
                let frame = RPCFrame(text, depth: session.limits.depth, batchLimit: limit)
                if case .malformed(let error, _) = frame, error.isExcess,
                    let id = RPCID(searchingAnswer: text.slice)
                {
                    session.failAnswer(to: id, error)
                }
                try await self.receiveInTurn(frame, in: session)
                self.setFrameBytes(0, in: session)
                if session.phase == .closed { break }
            }
        } catch let error as FrameError {
            session.logger.notice(
                "closed the connection of a peer whose messages cannot be read",
                metadata: session.metadata(error.message)
            )
            session.send(RPCSession.answer(to: .null, error.failure), to: .null)
            await self.channel.flush()
        } catch {
            session.logger.debug("a connection ended", metadata: session.metadata("\(error)"))
        }
        await self.channel.flush()
        // The end of many connections at the same time must not block the loop.
        await EventLoop.yieldIfDue()
        session.abandon()
        self.channel.close()
        // The process possibly exits when the server has ended, so wait until the last answers are sent.
        try? await self.channel.connection.waitUntilClosed()
    }

    /// Handles the messages of a frame.
    private func receiveInTurn(_ frame: RPCFrame, in session: isolated RPCSession) async throws {
        try await self.awaitTurn(session)
        let batch = session.beginBatch(frame)
        for (index, message) in frame.messages.enumerated() {
            if index > 0 { try await self.awaitTurn(session) }
            self.isHandling = true
            session.handle(message, batch: batch)
            self.isHandling = false
            await self.publishRemainder(session)
        }
    }

    /// Publishes the remaining messages of a `$/publish` notification.
    private func publishRemainder(_ session: isolated RPCSession) async {
        guard var rest = self.unpublished else { return }
        while !rest.isEmpty {
            if rest.undelivered == nil {
                // The wait throws when the task of the connection is cancelled. The messages were accepted,
                // so publish them nevertheless.
                try? await self.awaitTurn(session)
            } else {
                await EventLoop.yieldIfDue()
            }
            session.publishAccepted(of: &rest)
        }
        self.unpublished = nil
        rest.work?.endPart()
        self.closeIfDrained(session)
    }

    /// Waits until the next message may be handled.
    ///
    /// The method waits if the peer has sent too many messages or has not read enough of its answers. If the
    /// loop's budget is used up, the loop polls first.
    private func awaitTurn(_ session: isolated RPCSession) async throws {
        if let delay = self.bucket.take(at: session.eventLoop.time.instant) {
            await self.channel.flush()
            let end = session.eventLoop.time.instant + delay
            // The server may end the connection during a long delay.
            while session.phase != .closed, end > session.eventLoop.time.instant {
                let rest = end - session.eventLoop.time.instant
                try await session.eventLoop.clock.sleep(for: min(rest, .milliseconds(500)))
            }
        }
        if self.channel.unsentBytes > session.limits.unreadBytes { await self.channel.flush() }
        self.messages &+= 1
        // All connections share the loop's budget. If one connection used up the budget, it would delay the
        // others.
        if self.messages.isMultiple(of: Self.messagesPerTurn) {
            await session.eventLoop.yield()
        } else {
            await EventLoop.yieldIfDue()
        }
    }
}

// The token.
extension ServedConnection {
    /// Whether the peer has not sent the token that the server requires.
    private var awaitsToken: Bool { self.token != nil && self.awaitsFirstMessage }

    /// Whether the server may end the connection in favor of another connection.
    var isNewcomer: Bool { self.awaitsToken && !self.channel.isClosed }

    /// Checks that a request does not arrive before the token.
    func checkToken(before method: String) throws(RPCFailure) {
        if self.awaitsToken, method != SystemMethod.authenticate.rawValue {
            throw self.refused("the first message of a connection must be `$/authenticate`")
        }
        if self.token == nil { self.awaitsFirstMessage = false }
    }

    /// Closes the connection if a message other than the request with the token arrives first.
    func closeUnlessAuthenticated(_ session: isolated RPCSession) {
        if self.awaitsToken { self.drain(session) }
    }

    /// Records that a notification has arrived, which must not be the first message if the server has a
    /// token.
    func noteNotification(_ session: isolated RPCSession) {
        if self.token == nil { self.awaitsFirstMessage = false }
        self.closeUnlessAuthenticated(session)
    }

    /// Compares the peer's token with the expected token, and closes the connection if the token is wrong.
    func authenticate(_ token: String?, in session: isolated RPCSession) throws(RPCFailure) {
        guard let expected = self.token else { return }
        guard let token, expected.matches(token) else {
            session.logger.notice("rejected a peer", metadata: session.metadata("the token is wrong"))
            self.drain(session)
            throw self.refused("the token is wrong")
        }
        guard self.awaitsFirstMessage else { return }
        self.awaitsFirstMessage = false
        // A peer with the token may send large messages.
        self.channel.setLimit(session.limits.frameSize)
    }

    private func refused(_ message: String) -> RPCFailure {
        RPCFailure(RoutingError(.refused, message: message), reference: nil)
    }
}

// The end of the connection.
extension ServedConnection {
    /// Stops accepting requests, and closes the connection when all accepted requests have been answered.
    func drain(_ session: isolated RPCSession) {
        guard session.phase != .closed else { return }
        session.phase = .draining
        self.closeIfDrained(session)
    }

    func closeIfDrained(_ session: isolated RPCSession) {
        guard session.phase == .draining, session.requests.isEmpty, self.waitingCalls.isEmpty,
            self.unpublished == nil, self.unfinishedRests == 0
        else { return }
        session.phase = .closed
        // Enqueued messages are still sent. When the channel is closed, the task that reads from the channel
        // ends.
        Task {
            await session.channel.flush()
            session.connection?.channel.close()
        }
    }

    /// Closes the connection at once, and cancels the unanswered requests.
    func end(_ reason: String, in session: isolated RPCSession) {
        guard !self.channel.isClosed else { return }
        session.logger.info("a connection is closed", metadata: session.metadata(reason))
        session.phase = .closed
        self.channel.abort()
    }

    /// Gives the connection's share of the server's limits back.
    ///
    /// The session has cancelled its requests, of which `requests` have not been answered.
    func leave(abandoning requests: Int, in session: isolated RPCSession) {
        let messages = self.takeWaitingMessages()
        self.setFrameBytes(0, in: session)
        self.ledger.note { $0.abandoned += requests }
        let subscriptions = session.subscriptions.count
        self.load.assumeOnLoop { [number] in
            $0.close(number, subscriptions: subscriptions, leaving: messages, of: session)
        }
    }

    /// Closes the connection if the peer exceeds one of its time limits.
    func endIfOverdue(at now: ContinuousClock.Instant, in session: isolated RPCSession) {
        if let reason = self.overdue(at: now, in: session) { self.end(reason, in: session) }
    }

    private func overdue(at now: ContinuousClock.Instant, in session: isolated RPCSession) -> String? {
        let stalledSince = self.channel.stalledSince(at: now)
        if let stalledSince, now - stalledSince > session.limits.stallTime { return "the peer does not read" }
        if let wait = self.channel.partialFrameWait, wait > session.limits.messageTime {
            return "the peer has not sent the end of a message in time"
        }
        if self.awaitsFirstMessage, session.phase == .open {
            return now - self.openedAt > session.limits.messageTime
                ? "the peer has not sent a message in time" : nil
        }
        // If many bytes wait for the peer, the session does not read either.
        guard let idleTime = session.limits.idleTime, stalledSince == nil, session.requests.isEmpty,
            session.subscriptions.isEmpty
        else { return nil }
        return now - self.channel.lastReceived > idleTime ? "the connection is idle" : nil
    }
}

extension FrameError {
    /// The failure that the peer receives.
    var failure: RPCFailure {
        switch self {
        case .notRPC, .malformedHeader: RPCFailure(code: RPCFailure.parseError, message: self.message)
        case .tooLarge: RPCFailure(code: RPCFailure.invalidRequest, message: self.message)
        case .noRoom: .limit(self.message)
        }
    }
}
