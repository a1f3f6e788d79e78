public import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test of behaviour that Waybill does not have with `-D WAYBILL_PUBLIC_API_ONLY`.
    public static func needsPrivateSymbol(_ name: String) -> Self {
        #if WAYBILL_PUBLIC_API_ONLY
        .disabled("the build does not use `\(name)`")
        #else
        .enabled(if: true)
        #endif
    }
}
