internal import CWaybill
internal import Synchronization
internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// A zero-terminated copy of a text for C.
///
/// The copy is freed when this object is released.
@safe
final class CText: Sendable {
    // Only `init` writes the buffer, and only `deinit` frees it.
    private nonisolated(unsafe) let bytes: UnsafeMutableBufferPointer<CChar>

    init(_ bytes: some Collection<UInt8>) {
        let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count + 1)
        unsafe UnsafeMutableRawBufferPointer(copy).copyBytes(from: bytes)
        unsafe copy[bytes.count] = 0
        unsafe self.bytes = copy
    }

    convenience init(_ text: String) { self.init(text.utf8) }

    deinit { unsafe self.bytes.deallocate() }

    /// A pointer to the text.
    ///
    /// The pointer is valid as long as this object is retained.
    var pointer: UnsafePointer<CChar>? { unsafe UnsafePointer(self.bytes.baseAddress) }

    /// The text as a C value.
    ///
    /// The value is valid as long as this object is retained.
    var value: waybill_value { unsafe waybill_value(json: self.pointer, length: self.bytes.count - 1) }
}

/// Conversion of the values that the C program (the host) passes.
enum HostValue {
    /// Returns a copy of the bytes of a host's value.
    static func bytes(_ value: waybill_value) throws(HostStatus) -> [UInt8] {
        guard unsafe value.length != 0 else { return [] }
        // No object is longer than the maximum of `Int`, to which Swift converts a `size_t`.
        guard let json = unsafe value.json, unsafe value.length > 0 else { throw .invalidArgument }
        // The header requires that `length` bytes are readable.
        return unsafe Array(UnsafeRawBufferPointer(start: json, count: value.length))
    }

    static func parameters(_ value: waybill_value) throws -> [String: any Sendable] {
        let bytes = try unsafe self.bytes(value)
        return bytes.isEmpty ? [:] : try JSONText.parameters(of: bytes)
    }

    static func value(_ value: waybill_value) throws -> JSONText {
        let bytes = try unsafe self.bytes(value)
        return try bytes.isEmpty ? .null : JSONText(validating: bytes)
    }

    static func text(_ pointer: UnsafePointer<CChar>?) throws(HostStatus) -> String {
        // The header requires that the text ends with a zero byte.
        guard let pointer = unsafe pointer, let text = unsafe String(validatingCString: pointer) else {
            throw .invalidArgument
        }
        return text
    }
}

/// The outcome of a call, which the host's `waybill_completion` function receives.
struct HostOutcome: Sendable {
    let status: Int32
    private let value: CText?
    private let error: CText?

    init(_ value: any Sendable) throws {
        self.status = HostStatus.ok.rawValue
        self.value = value is Void ? nil : CText(try JSONWriter.encoded(value))
        self.error = nil
    }

    init(_ error: any Error) {
        self.status = HostStatus(error).rawValue
        self.value = nil
        self.error = CText(Self.sentence(error))
    }

    /// Returns the text of a host's failure itself, or a line that describes another error.
    static func sentence(_ error: any Error) -> String {
        let failure = (error as? RoutingError)?.declared(as: PendingMessage.HostFailure.self)
        return failure?.message ?? SafeText.line("\(error)")
    }

    /// Calls a closure with the outcome as a C structure, which is valid until the closure returns.
    func withC(_ body: (UnsafePointer<waybill_outcome>) -> Void) {
        withExtendedLifetime(self) {
            let none = unsafe waybill_value(json: nil, length: 0)
            let outcome = unsafe waybill_outcome(
                status: self.status,
                value: self.value?.value ?? none,
                error: self.error?.pointer
            )
            unsafe withUnsafePointer(to: outcome, body)
        }
    }
}

// The structures below pass a host's context to the host's function on the thread of the bus, and never read
// the context. They are therefore `@unchecked Sendable`.

/// A host's `waybill_handler`, with its context.
@safe
struct HostHandler: @unchecked Sendable {
    let function: waybill_handler
    let context: UnsafeMutableRawPointer?

    func call(_ message: PendingMessage) { unsafe self.function(self.context, message.retained) }
}

/// A host's `waybill_subscriber`, with its context.
@safe
struct HostSubscriber: @unchecked Sendable {
    let function: waybill_subscriber
    let context: UnsafeMutableRawPointer?

    func call(_ message: PendingMessage) {
        withExtendedLifetime(message) { unsafe self.function(self.context, message.borrowed) }
    }
}

/// A host's `waybill_completion`, with its context.
@safe
struct HostCompletion: @unchecked Sendable {
    let function: waybill_completion
    let context: UnsafeMutableRawPointer?

    func call(_ outcome: HostOutcome) {
        unsafe outcome.withC { outcome in unsafe self.function(self.context, outcome) }
    }
}

/// A host's `waybill_closed`, with its context.
@safe
struct HostClosed: @unchecked Sendable {
    let function: waybill_closed?
    let context: UnsafeMutableRawPointer?

    func call() { unsafe self.function?(self.context) }
}
