/// The error of a module with problems.
public struct ModuleTestFailure: Error, CustomStringConvertible {
    /// The report, with the problems.
    public let report: ModuleTestReport

    /// The report as text, problems first.
    public var description: String { self.report.description }
}
