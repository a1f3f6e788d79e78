/// What a module that has problems fails its test with.
public struct ModuleTestFailure: Error, CustomStringConvertible {
    /// The report, with the problems.
    public let report: ModuleTestReport

    /// The report as text, problems first.
    public var description: String { self.report.description }
}
