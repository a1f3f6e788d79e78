import Testing
import WaybillTestSupport

extension Trait where Self == ConditionTrait {
    /// Skips a suite under the address sanitizer.
    ///
    /// A simulated crash, and the end of a run that is stuck, leave tasks behind whose memory is never released.
    static var skippedByLeakChecks: Self {
        .disabled(if: Scale.findsLeaks, "a simulation leaves tasks behind")
    }
}
