#if NATS
internal import CNATS
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A connection of libnats.
///
/// The thread of a ``NATSAttempt`` creates the connection. After that, one thread uses the connection. The
/// thread of ``NATSDrainQueue`` also uses the connection, at the same time.
@safe
final class NATSClient: @unchecked Sendable {
    /// The socket, to which libnats refers until the connection is destroyed.
    let socket: NATSSocket
    let connection: OpaquePointer
    private let events: NATSEvents
    private var subscriptions: [String: OpaquePointer] = unsafe [:]
    let drainQueue = Locked(NATSDrainQueue())

    /// Connects to a server, and blocks until the server has answered.
    ///
    /// The initializer blocks for ever if the server stalls in the TLS handshake. ``NATSAttempt`` limits the
    /// wait for the initializer.
    init(
        to server: String,
        security: NATSTransport.Security,
        events: NATSEvents,
        poller: NATSPoller
    ) throws(RoutingError) {
        let socket = NATSSocket(polledBy: poller)
        self.socket = socket
        self.events = events
        // With one thread for all subscriptions, messages of different subscriptions stay in order.
        _ = nats_SetMessageDeliveryPoolSize(1)
        var options: OpaquePointer?
        _ = unsafe natsOptions_Create(&options)
        defer { unsafe natsOptions_Destroy(options) }
        // libnats passes this pointer to callbacks until the connection is closed for good. The last callback
        // releases the object.
        let context = unsafe CallbackContext.retaining(events)
        let status = unsafe Self.configure(
            options,
            server: server,
            security: security,
            events: context,
            socket: socket
        )
        var connection: OpaquePointer?
        let result = withExtendedLifetime(socket) {
            unsafe status == NATS_OK ? natsConnection_Connect(&connection, options) : status
        }
        guard result == NATS_OK, let connection = unsafe connection else {
            unsafe CallbackContext.take(context, as: NATSEvents.self)
            let text = unsafe String(cString: natsStatus_GetText(result))
            let code: RoutingError.Code =
                result == NATS_CONNECTION_AUTH_FAILED || result == NATS_NOT_PERMITTED
                ? .refused : .unreachable
            throw RoutingError(code, message: "cannot connect to a NATS server: \(text)")
        }
        unsafe self.connection = connection
    }

    private static func configure(
        _ options: OpaquePointer?,
        server: String,
        security: NATSTransport.Security,
        events: UnsafeMutableRawPointer,
        socket: NATSSocket
    ) -> natsStatus {
        var steps = unsafe [
            // libnats copies the text.
            server.withCString { text in
                var name: UnsafePointer<CChar>? = unsafe text
                return unsafe natsOptions_SetServers(options, &name, 1)
            },
            natsOptions_UseGlobalMessageDelivery(options, true),
            // Do not receive the node's own publications, because they have already reached the subscribers
            // on this node.
            natsOptions_SetNoEcho(options, true),
            // Without this option, the data waits up to a millisecond until a thread of libnats writes it.
            natsOptions_SetSendAsap(options, true),
            natsOptions_SetTimeout(options, 2000),
            // ``NATSWorker`` reconnects, and ``Liveness`` detects a silent server. If libnats did this
            // instead, it would close the socket on its own threads.
            natsOptions_SetAllowReconnect(options, false),
            natsOptions_SetPingInterval(options, Liveness.interval / 1_000_000),
            natsOptions_SetMaxPingsOut(options, .max),
            natsOptions_SetIOBufSize(options, 1 << 16),
            socket.configure(options),
            natsOptions_SetMaxPendingMsgs(options, 1 << 20),
            natsOptions_SetClosedCB(options, noteClosed, events),
            natsOptions_SetLameDuckModeCB(options, noteLameDuck, events),
            natsOptions_SetErrorHandler(options, noteError, events),
        ]
        if let user = security.user {
            unsafe steps.append(natsOptions_SetUserInfo(options, user, security.password ?? ""))
        }
        if let token = security.token { unsafe steps.append(natsOptions_SetToken(options, token)) }
        if let key = security.nKey, let file = security.seedFile {
            unsafe steps.append(natsOptions_SetNKeyFromSeed(options, key, file))
        }
        if let file = security.credentialsFile {
            unsafe steps.append(natsOptions_SetUserCredentialsFromFiles(options, file, nil))
        }
        if security.usesTLS { unsafe steps.append(natsOptions_SetSecure(options, true)) }
        if let file = security.certificateAuthorityFile {
            unsafe steps.append(natsOptions_LoadCATrustedCertificates(options, file))
        }
        if let certificate = security.certificateFile, let key = security.keyFile {
            unsafe steps.append(natsOptions_LoadCertificatesChain(options, certificate, key))
        }
        return steps.first { $0 != NATS_OK } ?? NATS_OK
    }

    var payloadLimit: Int {
        // A server that violates the protocol can announce any number.
        let limit = unsafe natsConnection_GetMaxPayload(self.connection)
        return Int(min(max(0, limit), Int64(Int32.max)))
    }

    /// Enqueues a message for ``write()``, and returns the reason for a rejection, or nil.
    func publish(_ message: OutgoingMessage) -> String? {
        let (subject, reply) = (message.subject, message.reply?.text)
        // libnats copies the bytes before it returns.
        let status = unsafe message.payload.withUnsafeBytes { bytes in
            let data = bytes.baseAddress
            guard message.headers.isEmpty else {
                return unsafe self.publishWithHeaders(message, payload: bytes)
            }
            guard let reply else {
                return unsafe natsConnection_Publish(self.connection, subject, data, Int32(bytes.count))
            }
            return unsafe natsConnection_PublishRequest(
                self.connection,
                subject,
                reply,
                data,
                Int32(bytes.count)
            )
        }
        return status == NATS_OK ? nil : unsafe String(cString: natsStatus_GetText(status))
    }

    private func publishWithHeaders(
        _ message: OutgoingMessage,
        payload: UnsafeRawBufferPointer
    ) -> natsStatus {
        var copy: OpaquePointer?
        let data = unsafe payload.baseAddress?.assumingMemoryBound(to: CChar.self)
        // libnats copies all arguments into its own message.
        var status = unsafe natsMsg_Create(
            &copy,
            message.subject,
            message.reply?.text,
            data,
            Int32(payload.count)
        )
        defer { unsafe natsMsg_Destroy(copy) }
        for (name, value) in message.headers where status == NATS_OK {
            status = unsafe natsMsgHeader_Set(copy, name, value)
        }
        return unsafe status == NATS_OK ? natsConnection_PublishMsg(self.connection, copy) : status
    }

    /// Subscribes to a subject, whose queue must be the same each time.
    func subscribe(_ subject: String, _ queue: String?) {
        // The server does not know yet that an earlier subscription of the subject has ended.
        if let address = self.drainQueue.withLock({ $0.takeBack(subject) }) {
            unsafe self.subscriptions[subject] = OpaquePointer(bitPattern: address)
            return
        }
        var subscription: OpaquePointer?
        // ``noteComplete`` releases this object after the last message of the subscription.
        let events = unsafe CallbackContext.retaining(self.events)
        let status =
            if let queue {
                unsafe natsConnection_QueueSubscribe(
                    &subscription,
                    self.connection,
                    subject,
                    queue,
                    takeMessage,
                    events
                )
            } else {
                unsafe natsConnection_Subscribe(&subscription, self.connection, subject, takeMessage, events)
            }
        guard status == NATS_OK else {
            unsafe CallbackContext.take(events, as: NATSEvents.self)
            let text = unsafe String(cString: natsStatus_GetText(status))
            self.events.append(.problem("could not subscribe to \(subject): \(text)"))
            return
        }
        _ = unsafe natsSubscription_SetOnCompleteCB(subscription, noteComplete, events)
        unsafe self.subscriptions[subject] = subscription
    }

    /// Ends a subscription.
    ///
    /// Messages that the server sends before it has processed this request still arrive.
    func unsubscribe(_ subject: String) {
        guard let subscription = unsafe self.subscriptions.removeValue(forKey: subject) else { return }
        unsafe self.drain(subscription, of: subject)
    }

    /// Whether the connection is connected to a server.
    var isConnected: Bool {
        unsafe natsConnection_Status(self.connection) == NATS_CONN_STATUS_CONNECTED
    }

    /// Reads the received bytes and passes the messages to the delivery thread of libnats.
    func read() { unsafe natsConnection_ProcessReadEvent(self.connection) }

    /// Writes the enqueued bytes, as far as the socket accepts them.
    func write() { unsafe natsConnection_ProcessWriteEvent(self.connection) }

    /// The reason why the connection was lost.
    var lastError: String { unsafe errorText(self.connection) }

    /// The URLs of other servers that the server has reported.
    var discoveredServers: [String] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        var count: Int32 = 0
        guard unsafe natsConnection_GetDiscoveredServers(self.connection, &names, &count) == NATS_OK else {
            return []
        }
        // The caller must free the list and its texts.
        defer { unsafe free(names) }
        return (0..<Int(count)).compactMap { index in
            guard let name = unsafe names?[index] else { return nil }
            defer { unsafe free(name) }
            return unsafe String(cString: name)
        }
    }

    /// Closes the connection.
    ///
    /// If bytes wait to be written, the caller must shut the socket down first. Otherwise libnats waits until
    /// all bytes are written to the server, although only this thread could write them.
    func close() {
        unsafe natsConnection_Close(self.connection)
        for subject in unsafe Array(self.subscriptions.keys) {
            unsafe natsSubscription_Destroy(self.subscriptions[subject])
        }
        unsafe self.subscriptions = [:]
    }

    // The thread of a flush may still use the connection for a moment after `close`. The connection is
    // therefore destroyed here.
    deinit { unsafe natsConnection_Destroy(self.connection) }
}

// The callbacks of libnats, which its own threads call. One thread delivers messages, and another thread
// reports every other event. The `closure` argument is a retained ``NATSEvents``. The last callback of a
// subscription or a connection releases this object.

private func events(_ closure: UnsafeMutableRawPointer?) -> NATSEvents? {
    // The object was retained when the pointer was created. It is released only after this callback.
    unsafe closure.map { unsafe CallbackContext.object(of: $0) }
}

private func takeMessage(
    _: OpaquePointer?,
    _: OpaquePointer?,
    _ message: OpaquePointer?,
    _ closure: UnsafeMutableRawPointer?
) {
    guard let events = unsafe events(closure), let name = unsafe natsMsg_GetSubject(message) else {
        return unsafe natsMsg_Destroy(message)
    }
    let block = unsafe headerBlock(of: message, subject: name)
    let size = unsafe Int(natsMsg_GetDataLength(message))
    // Return the message last, after the loop has been woken up. The message is not used after that.
    defer { unsafe events.giveBack(message, size: size + block.count) }
    let subject = unsafe String(cString: name)
    let headers = unsafe hasKnownLayout ? MessageHeaders(block) : slowHeaders(of: message)
    if size == 0, headers?.status == MessageHeaders.noResponders {
        events.append(.undelivered(reply: subject, reason: .noSubscriber))
        return
    }
    // libnats reports the true size of the message, and does not free the message before it is returned.
    let bytes = unsafe UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: size)
    var payload = events.spares.take(size)
    unsafe payload.append(contentsOf: bytes)
    let taken = unsafe TransportMessage(
        subject: subject,
        reply: natsMsg_GetReply(message).map { unsafe String(cString: $0) },
        payload: payload,
        headers: headers?.list ?? []
    )
    events.append(.message(taken))
}

/// Returns the bytes of the headers of a message; none if libnats stores messages in an unknown way.
///
/// No function of libnats returns these bytes. libnats stores a message in one block of memory: the subject,
/// the reply subject, the headers and the data, each with a zero byte after it. ``hasKnownLayout`` checks
/// this order.
private func headerBlock(of message: OpaquePointer?, subject: UnsafePointer<CChar>) -> [UInt8] {
    let last = unsafe natsMsg_GetReply(message) ?? subject
    guard hasKnownLayout, let data = unsafe natsMsg_GetData(message) else { return [] }
    let start = unsafe last + strlen(last) + 1
    let count = unsafe start.distance(to: data) - 1
    return count > 0 ? unsafe Array(UnsafeRawBufferPointer(start: start, count: count)) : []
}

/// Returns the headers of a message with public functions of libnats only, which need quadratic time.
private func slowHeaders(of message: OpaquePointer?) -> MessageHeaders {
    var names: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    var count: Int32 = 0
    let status = unsafe natsMsg_IsNoResponders(message) ? MessageHeaders.noResponders : ""
    _ = unsafe natsMsgHeader_Keys(message, &names, &count)
    // The caller must free the list. The message owns the names and the values.
    defer { unsafe free(names) }
    let list = (0..<Int(count)).compactMap { index -> (name: String, value: String)? in
        var value: UnsafePointer<CChar>?
        guard let name = unsafe names?[index], unsafe natsMsgHeader_Get(message, name, &value) == NATS_OK,
            let value = unsafe value
        else { return nil }
        return unsafe (String(cString: name), String(cString: value))
    }
    return MessageHeaders(status: status, list: list)
}

/// Whether libnats stores a message in the order that ``headerBlock(of:subject:)`` expects.
let hasKnownLayout: Bool = {
    #if WAYBILL_PUBLIC_API_ONLY
    return false
    #else
    // The library traps when it destroys a message before it is open.
    guard nats_Open(-1) == NATS_OK else { return false }
    var message: OpaquePointer?
    _ = unsafe natsMsg_Create(&message, "a", "b", "c", 1)
    defer { unsafe natsMsg_Destroy(message) }
    guard let subject = unsafe natsMsg_GetSubject(message), let reply = unsafe natsMsg_GetReply(message),
        let data = unsafe natsMsg_GetData(message)
    else { return false }
    return unsafe reply == subject + 2 && data == reply + 2
    #endif
}()

private func noteComplete(_ closure: UnsafeMutableRawPointer?) {
    guard let closure = unsafe closure else { return }
    // This is the last callback of the subscription, so no later callback receives the pointer.
    unsafe CallbackContext.take(closure, as: NATSEvents.self)
}

private func noteLameDuck(_: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
    unsafe events(closure)?.append(.lameDuck)
}

private func noteError(
    _ connection: OpaquePointer?,
    _: OpaquePointer?,
    status: natsStatus,
    closure: UnsafeMutableRawPointer?
) {
    guard let events = unsafe events(closure) else { return }
    if status == NATS_SLOW_CONSUMER { return events.noteOverflow() }
    // libnats stores the text of this error for this thread. The connection may have a later error already.
    if status == NATS_NOT_PERMITTED, let text = unsafe nats_GetLastError(nil),
        let event = unsafe TransportEvent(refusal: String(cString: text))
    {
        return events.append(event)
    }
    events.append(TransportEvent.problem(unsafe errorText(connection)))
}

/// Returns the latest error of a connection.
private func errorText(_ connection: OpaquePointer?) -> String {
    var text: UnsafePointer<CChar>?
    let status = unsafe natsConnection_GetLastError(connection, &text)
    // The connection owns the text, and the caller keeps the connection alive.
    let own = unsafe text.map { unsafe String(cString: $0) } ?? ""
    return own.isEmpty ? unsafe String(cString: natsStatus_GetText(status)) : own
}

private func noteClosed(_: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
    guard let closure = unsafe closure else { return }
    // This is the last callback of the connection, so no later callback receives the pointer.
    let events = unsafe CallbackContext.take(closure, as: NATSEvents.self)
    events.giveBackAll()
}
#endif
