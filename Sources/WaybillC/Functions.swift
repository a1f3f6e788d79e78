// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The C header determines the names.

public import CWaybill
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

// The functions of `waybill.h`, which documents them. The compiler compares their types with the header.
//
// Each `unsafe` below relies on the header: a pointer is null, or it points to a valid object of the type
// that the header declares.

/// Returns the version of the interface.
@c @implementation
public func waybill_abi_version() -> Int32 { WAYBILL_ABI_VERSION }

/// Returns the name of a status.
@c @implementation
public func waybill_status_name(_ status: Int32) -> UnsafePointer<CChar>? {
    unsafe (HostStatus.names[status] ?? HostStatus.names[HostStatus.other.rawValue])?.pointer
}

/// Creates a bus on the `uv_loop_t` of the C program (the host), or returns nil if that fails.
@c @implementation
public func waybill_adopt(_ hostLoop: UnsafeMutableRawPointer?) -> OpaquePointer? {
    guard let hostLoop = unsafe hostLoop,
        let loop = try? unsafe EventLoop.adopting(
            hostLoop,
            name: "waybill-host",
            configuration: HostBus.configuration
        )
    else { return nil }
    return unsafe HostBus(on: loop, isDriven: false).retained
}

/// Creates a bus whose loop the C program (the host) runs, or returns nil if that fails.
@c @implementation
public func waybill_create() -> OpaquePointer? {
    guard let loop = try? EventLoop.driven(name: "waybill-host", configuration: HostBus.configuration)
    else { return nil }
    return unsafe HostBus(on: loop, isDriven: true).retained
}

/// Returns the descriptor to poll, or -1 for a bus on a `uv_loop_t`.
@c @implementation
public func waybill_fd(_ bus: OpaquePointer?) -> Int32 {
    guard let bus = unsafe HostBus.of(bus), bus.isDriven else { return -1 }
    return bus.eventLoop.backendDescriptor
}

/// Returns the maximum number of milliseconds for which the host may poll, or the status of an error.
///
/// The status of an error is below -1, because -1 allows the host to poll for any time.
@c @implementation
public func waybill_timeout(_ bus: OpaquePointer?) -> Int32 {
    guard let bus = unsafe HostBus.of(bus), bus.isDriven else { return HostStatus.refused.rawValue }
    guard bus.eventLoop.isInEventLoop else { return HostStatus.wrongThread.rawValue }
    return bus.eventLoop.backendTimeout
}

/// Runs the callbacks that are due.
@c @implementation
public func waybill_dispatch(_ bus: OpaquePointer?) -> Int32 {
    guard let bus = unsafe HostBus.of(bus), bus.isDriven else { return HostStatus.invalidArgument.rawValue }
    guard bus.eventLoop.isInEventLoop else { return HostStatus.wrongThread.rawValue }
    return (bus.dispatch() ? HostStatus.ok : HostStatus.refused).rawValue
}

/// Begins to close a bus.
@c @implementation
public func waybill_close(
    _ bus: OpaquePointer?,
    _ closed: waybill_closed?,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    let host = unsafe HostClosed(function: closed, context: context)
    return unsafe HostBus.run(bus) { bus in bus.assumeOnLoop { $0.close(host) } }
}

/// Registers a handler for the URLs of a pattern.
@c @implementation
public func waybill_register(
    _ bus: OpaquePointer?,
    _ pattern: UnsafePointer<CChar>?,
    _ handler: waybill_handler?,
    _ context: UnsafeMutableRawPointer?,
    _ id: UnsafeMutablePointer<UInt64>?
) -> Int32 {
    unsafe HostBus.run(bus) { bus in
        guard let handler = unsafe handler else { throw HostStatus.invalidArgument }
        let host = unsafe HostHandler(function: handler, context: context)
        let pattern = try unsafe HostValue.text(pattern)
        let added = try bus.assumeOnLoop { bus throws(RoutingError) in try bus.register(pattern, host) }
        unsafe id?.pointee = added
    }
}

/// Subscribes to the messages whose URLs match a pattern.
@c @implementation
public func waybill_subscribe(
    _ bus: OpaquePointer?,
    _ pattern: UnsafePointer<CChar>?,
    _ subscriber: waybill_subscriber?,
    _ context: UnsafeMutableRawPointer?,
    _ id: UnsafeMutablePointer<UInt64>?
) -> Int32 {
    unsafe HostBus.run(bus) { bus in
        guard let subscriber = unsafe subscriber else { throw HostStatus.invalidArgument }
        let host = unsafe HostSubscriber(function: subscriber, context: context)
        let pattern = try unsafe HostValue.text(pattern)
        let added = try bus.assumeOnLoop { bus throws(RoutingError) in try bus.subscribe(pattern, host) }
        unsafe id?.pointee = added
    }
}

/// Sends a message, and passes the reply to a function.
@c @implementation
public func waybill_route(
    _ bus: OpaquePointer?,
    _ url: UnsafePointer<CChar>?,
    _ parameters: waybill_value,
    _ timeout: Int64,
    _ done: waybill_completion?,
    _ context: UnsafeMutableRawPointer?,
    _ id: UnsafeMutablePointer<UInt64>?
) -> Int32 {
    unsafe HostBus.run(bus) { bus in
        guard let done = unsafe done else { throw HostStatus.invalidArgument }
        let host = unsafe HostCompletion(function: done, context: context)
        let url = try unsafe HostValue.text(url)
        let parameters = try unsafe HostValue.parameters(parameters)
        let limit: Duration? = timeout < 0 ? nil : .milliseconds(timeout)
        let begun = bus.assumeOnLoop {
            $0.begin(host, to: url) { bus in
                try await bus.routeAtOnce(url, parameters: parameters, timeout: limit).value
            }
        }
        unsafe id?.pointee = begun
    }
}

/// Sends a message without a reply.
@c @implementation
public func waybill_send(
    _ bus: OpaquePointer?,
    _ url: UnsafePointer<CChar>?,
    _ parameters: waybill_value
) -> Int32 {
    unsafe HostBus.run(bus) { bus in
        let url = try unsafe HostValue.text(url)
        let parameters = try unsafe HostValue.parameters(parameters)
        try bus.bus.trySend(url, parameters: parameters)
    }
}

/// Sends a message to all subscribers.
@c @implementation
public func waybill_publish(
    _ bus: OpaquePointer?,
    _ url: UnsafePointer<CChar>?,
    _ parameters: waybill_value,
    _ done: waybill_completion?,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe HostBus.run(bus) { bus in
        let host = unsafe done.map { unsafe HostCompletion(function: $0, context: context) }
        let url = try unsafe HostValue.text(url)
        let parameters = try unsafe HostValue.parameters(parameters)
        bus.assumeOnLoop {
            _ = $0.begin(host, to: url) { bus in
                try await bus.publishAtOnce(url, parameters: parameters, isLogged: host == nil)
            }
        }
    }
}

/// Cancels the registration, subscription or call with an ID.
@c @implementation
public func waybill_cancel(_ bus: OpaquePointer?, _ id: UInt64) -> Int32 {
    unsafe HostBus.run(bus, whileClosing: true) { bus in bus.assumeOnLoop { $0.cancel(id) } }
}

/// Returns the error message of the last call that failed.
@c @implementation
public func waybill_error(_ bus: OpaquePointer?) -> UnsafePointer<CChar>? {
    unsafe HostBus.error(of: bus).pointer
}

/// Returns the URL of a message.
@c @implementation
public func waybill_message_url(_ message: OpaquePointer?) -> UnsafePointer<CChar>? {
    unsafe PendingMessage.of(message)?.url.pointer
}

/// Returns the parameters of a message.
@c @implementation
public func waybill_message_parameters(_ message: OpaquePointer?) -> waybill_value {
    unsafe PendingMessage.of(message)?.parameters.value ?? waybill_value(json: nil, length: 0)
}

/// Returns the payload of a message.
@c @implementation
public func waybill_message_payload(_ message: OpaquePointer?) -> waybill_value {
    unsafe PendingMessage.of(message)?.payload?.value ?? waybill_value(json: nil, length: 0)
}

/// Completes a message with a value as its reply.
@c @implementation
public func waybill_reply(_ message: OpaquePointer?, _ value: waybill_value) -> Int32 {
    unsafe PendingMessage.end(message) { .success(try unsafe HostValue.value(value)) }
}

/// Completes a message with a failure.
@c @implementation
public func waybill_fail(_ message: OpaquePointer?, _ text: UnsafePointer<CChar>?) -> Int32 {
    unsafe PendingMessage.end(message) {
        .failure(PendingMessage.HostFailure(message: try unsafe HostValue.text(text)))
    }
}
