import Testing
import WaybillTestSupport

extension Trait where Self == ConditionTrait {
    /// Skips a suite under the address sanitizer, and in a build without private symbols.
    ///
    /// A simulated crash, and the end of a run that is stuck, leave tasks whose memory is never released.
    /// Without private symbols, `Task.sleep` in a simulation waits in real time.
    static var skippedByLeakChecks: Self {
        #if WAYBILL_PUBLIC_API_ONLY
        .needsPrivateSymbol("SchedulingExecutor")
        #else
        .disabled(if: Scale.findsLeaks, "a simulation leaves tasks behind")
        #endif
    }
}
