/// The error of a module test case that found problems.
public struct ModuleTestFailure: Error, CustomStringConvertible {
    /// The report with the problems.
    public let report: ModuleTestReport

    /// The report as text, with the problems first.
    public var description: String { self.report.description }
}
