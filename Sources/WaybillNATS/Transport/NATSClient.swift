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

/// A connection as libnats has it; it is used by one thread, and by those that wait for the server.
@safe
final class NATSClient: @unchecked Sendable {
    private let connection: OpaquePointer
    private let events: NATSEvents
    private var subscriptions: [String: OpaquePointer] = unsafe [:]
    /// Those that have ended and may have messages that were not delivered yet.
    private var draining: [OpaquePointer] = unsafe []

    /// Connects, which takes seconds at worst.
    init(
        _ servers: [String],
        _ security: NATSTransport.Security,
        _ events: NATSEvents,
        _ socket: NATSSocket
    ) throws(RoutingError) {
        self.events = events
        // One thread for all subscriptions, so that the order of messages holds among them.
        _ = nats_SetMessageDeliveryPoolSize(1)
        var options: OpaquePointer?
        _ = unsafe natsOptions_Create(&options)
        defer { unsafe natsOptions_Destroy(options) }
        // libnats calls back with it until the connection is closed for good, which releases it.
        let box = unsafe Unmanaged.passRetained(events)
        let status = unsafe Self.configure(options, servers, security, box.toOpaque(), socket)
        var connection: OpaquePointer?
        let result = unsafe status == NATS_OK ? natsConnection_Connect(&connection, options) : status
        guard result == NATS_OK, let connection = unsafe connection else {
            unsafe box.release()
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
        _ servers: [String],
        _ security: NATSTransport.Security,
        _ events: UnsafeMutableRawPointer,
        _ socket: NATSSocket
    ) -> natsStatus {
        var names = unsafe servers.map { unsafe UnsafePointer(strdup($0)) }
        defer { for index in servers.indices { unsafe free(UnsafeMutablePointer(mutating: names[index])) } }
        var steps = unsafe [
            natsOptions_SetServers(options, &names, Int32(servers.count)),
            natsOptions_UseGlobalMessageDelivery(options, true),
            // A node does not hear itself: its publications have reached its own subscribers already.
            natsOptions_SetNoEcho(options, true),
            // What is written waits for a thread of libnats otherwise, and that for a millisecond.
            natsOptions_SetSendAsap(options, true),
            natsOptions_SetTimeout(options, 2000),
            // ``NATSWorker`` connects again, and ``Liveness`` finds a server that does not answer to what is
            // sent here: libnats would close the socket on threads of its own.
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

    var payloadLimit: Int { unsafe Int(natsConnection_GetMaxPayload(self.connection)) }

    /// Has a message wait for ``write()``.
    ///
    /// - Returns: why it does not, if so.
    func publish(
        _ subject: String,
        _ reply: String?,
        _ payload: [UInt8],
        _ headers: [(name: String, value: String)]
    ) -> String? {
        // libnats copies the bytes before it returns.
        let status = unsafe payload.withUnsafeBytes { bytes in
            let data = bytes.baseAddress
            guard headers.isEmpty else { return unsafe self.publish(subject, reply, bytes, headers) }
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

    private func publish(
        _ subject: String,
        _ reply: String?,
        _ payload: UnsafeRawBufferPointer,
        _ headers: [(name: String, value: String)]
    ) -> natsStatus {
        var message: OpaquePointer?
        let data = unsafe payload.baseAddress?.assumingMemoryBound(to: CChar.self)
        // The message has copies of all that it is given.
        var status = unsafe natsMsg_Create(&message, subject, reply, data, Int32(payload.count))
        defer { unsafe natsMsg_Destroy(message) }
        for (name, value) in headers where status == NATS_OK {
            status = unsafe natsMsgHeader_Set(message, name, value)
        }
        return unsafe status == NATS_OK ? natsConnection_PublishMsg(self.connection, message) : status
    }

    func subscribe(_ subject: String, _ queue: String?) {
        var subscription: OpaquePointer?
        // ``noteComplete`` releases it, after the last message.
        let box = unsafe Unmanaged.passRetained(self.events)
        let events = unsafe box.toOpaque()
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
            unsafe box.release()
            let text = unsafe String(cString: natsStatus_GetText(status))
            self.events.append(.problem("\(subject) could not be subscribed to: \(text)"))
            return
        }
        _ = unsafe natsSubscription_SetOnCompleteCB(subscription, noteComplete, events)
        unsafe self.subscriptions[subject] = subscription
    }

    /// Ends a subscription; messages that the server has sent before it knows still come.
    func unsubscribe(_ subject: String) {
        guard let subscription = unsafe self.subscriptions.removeValue(forKey: subject) else { return }
        _ = unsafe natsSubscription_Drain(subscription)
        // Destroyed now, it would drop what waits in it.
        unsafe self.draining.append(subscription)
        if unsafe self.draining.count > 1000 { self.flush {} }
    }

    /// Waits on a thread of its own until the server has had what was sent, and what came for subscriptions
    /// that have ended is delivered; two seconds at most, however many there are, and not at all without a
    /// server.
    func flush(then body: @escaping @Sendable () -> Void) {
        let subscriptions = unsafe self.draining.map { UInt(bitPattern: $0) }
        unsafe self.draining = []
        LoopThread.start(name: "nats-flush") {
            self.flush(subscriptions)
            body()
        }
    }

    /// How long the server may take for what is asked of it.
    private static let patience = Duration.seconds(2)

    private func flush(_ draining: [UInt]) {
        let limit = ContinuousClock.now + Self.patience
        let milliseconds = Int64(Self.patience / .milliseconds(1))
        if self.isConnected { _ = unsafe natsConnection_FlushTimeout(self.connection, milliseconds) }
        for address in draining {
            // The address of a subscription that this closure alone has.
            let subscription = unsafe OpaquePointer(bitPattern: address)
            let left = Int64((limit - .now) / .milliseconds(1))
            if left > 0, self.isConnected {
                _ = unsafe natsSubscription_WaitForDrainCompletion(subscription, left)
            }
            unsafe natsSubscription_Destroy(subscription)
        }
    }

    /// Whether there is a server.
    var isConnected: Bool {
        unsafe natsConnection_Status(self.connection) == NATS_CONN_STATUS_CONNECTED
    }

    /// Reads what has come, and hands it to the thread that delivers it.
    func read() { unsafe natsConnection_ProcessReadEvent(self.connection) }

    /// Writes what waits for that, as far as the socket takes it.
    func write() { unsafe natsConnection_ProcessWriteEvent(self.connection) }

    /// Why the connection is lost.
    var lastError: String { unsafe errorText(self.connection) }

    /// The URLs of the servers that the server knows of.
    var discoveredServers: [String] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        var count: Int32 = 0
        guard unsafe natsConnection_GetDiscoveredServers(self.connection, &names, &count) == NATS_OK else {
            return []
        }
        // The list and its texts are the caller's.
        defer { unsafe free(names) }
        return (0..<Int(count)).compactMap { index in
            guard let name = unsafe names?[index] else { return nil }
            defer { unsafe free(name) }
            return unsafe String(cString: name)
        }
    }

    /// Closes the connection, whose socket has to be at its end: libnats would wait for the server to have
    /// what is not written, on the thread that would have to write it.
    func close() {
        unsafe natsConnection_Close(self.connection)
        for index in unsafe self.draining.indices { unsafe natsSubscription_Destroy(self.draining[index]) }
        for subject in unsafe Array(self.subscriptions.keys) {
            unsafe natsSubscription_Destroy(self.subscriptions[subject])
        }
        unsafe self.draining = []
        unsafe self.subscriptions = [:]
    }

    // A flush may have it for a moment after it is closed.
    deinit { unsafe natsConnection_Destroy(self.connection) }
}

// The callbacks of libnats, on threads of its own: one for messages, and one for all else. Their closure is a
// retained ``NATSEvents``, which the last callback of a subscription or a connection releases.

private func events(_ closure: UnsafeMutableRawPointer?) -> NATSEvents? {
    // Made of a retained object, which is released after this callback.
    unsafe closure.map { unsafe Unmanaged<NATSEvents>.fromOpaque($0).takeUnretainedValue() }
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
    let size = unsafe Int(natsMsg_GetDataLength(message))
    // The last use of the message, after the loop has been woken up.
    defer { unsafe events.giveBack(message, size: size) }
    let subject = unsafe String(cString: name)
    if unsafe natsMsg_IsNoResponders(message) {
        events.append(.undelivered(reply: subject, reason: .noSubscriber))
        return
    }
    // The message has as many bytes as it says, and is not destroyed before they are copied.
    let bytes = unsafe UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: size)
    var payload = events.spares.take(size)
    unsafe payload.append(contentsOf: bytes)
    let taken = unsafe TransportMessage(
        subject: subject,
        reply: natsMsg_GetReply(message).map { unsafe String(cString: $0) },
        payload: payload,
        headers: headers(of: message)
    )
    events.append(taken)
}

private func noteComplete(_ closure: UnsafeMutableRawPointer?) {
    guard let closure = unsafe closure else { return }
    // The last callback of the subscription: nothing of it refers to the object any more.
    unsafe Unmanaged<NATSEvents>.fromOpaque(closure).release()
}

/// The headers of a message; of several values of one name the first.
private func headers(of message: OpaquePointer?) -> [(name: String, value: String)] {
    var names: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    var count: Int32 = 0
    guard unsafe natsMsgHeader_Keys(message, &names, &count) == NATS_OK else { return [] }
    // The list is the caller's; its texts are the message's, as the values are.
    defer { unsafe free(names) }
    var headers: [(name: String, value: String)] = []
    for index in 0..<Int(count) {
        var value: UnsafePointer<CChar>?
        guard let name = unsafe names?[index], unsafe natsMsgHeader_Get(message, name, &value) == NATS_OK,
            let value = unsafe value
        else { continue }
        unsafe headers.append((String(cString: name), String(cString: value)))
    }
    return headers
}

private func noteLameDuck(_: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
    unsafe events(closure)?.append(.lameDuck)
}

private func noteError(
    _ connection: OpaquePointer?,
    _: OpaquePointer?,
    _ status: natsStatus,
    _ closure: UnsafeMutableRawPointer?
) {
    guard let events = unsafe events(closure) else { return }
    if status == NATS_SLOW_CONSUMER { return events.noteOverflow() }
    events.append(TransportEvent.problem(unsafe errorText(connection)))
}

/// What was wrong with a connection last.
private func errorText(_ connection: OpaquePointer?) -> String {
    var text: UnsafePointer<CChar>?
    let status = unsafe natsConnection_GetLastError(connection, &text)
    // The text is the connection's, which its caller has.
    let own = unsafe text.map { unsafe String(cString: $0) } ?? ""
    return own.isEmpty ? unsafe String(cString: natsStatus_GetText(status)) : own
}

private func noteClosed(_: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
    guard let closure = unsafe closure else { return }
    // The last callback of the connection: nothing refers to it any more.
    let events = unsafe Unmanaged<NATSEvents>.fromOpaque(closure).takeRetainedValue()
    events.giveBackAll()
}
#endif
