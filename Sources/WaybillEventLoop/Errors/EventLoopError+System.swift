internal import CLibUV

extension EventLoopError {
    /// The error of somebody who used `loop`, or waited on it, when it shut down.
    static func shutDown(_ name: String) -> Self {
        Self(.shutDown, message: "the event loop \"\(name)\" has shut down")
    }

    /// Throws if libuv answered `status` with a failure.
    ///
    /// - Parameters:
    ///   - status: What a `uv_` function returned; negative is a failure.
    ///   - action: What was tried, as in "could not <action>".
    /// - Throws: What went wrong, with the code `system`.
    static func check(_ status: Int32, _ action: @autoclosure () -> String) throws(EventLoopError) {
        guard status < 0 else { return }
        // libuv returns a static string for every code it knows, and a leaked one for those it does not.
        let reason = unsafe uv_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
        throw Self(.system, message: "could not \(action()): \(reason)")
    }
}
