/// Decides from samples of one loop whether a job has held it for too long.
///
/// The loop only counts the jobs it starts. If two samples see the same count of a busy loop, one job has held it
/// at least from the first to the second; the first is when the job was noticed, not when it began.
struct JobWatch {
    let threshold: Int64

    private var runs: UInt = 0
    /// When the job that runs was noticed, if one runs.
    private var noticedAt: Int64?
    private var isReported = false

    init(threshold: Int64) {
        self.threshold = threshold
    }

    /// Takes a sample.
    ///
    /// - Parameters:
    ///   - runs: How many jobs the loop has started.
    ///   - isBusy: Whether it runs one.
    ///   - now: Nanoseconds.
    /// - Returns: For how long at least the job has run, the first time that this is too long.
    mutating func sample(runs: UInt, isBusy: Bool, at now: Int64) -> Int64? {
        guard isBusy else {
            self.noticedAt = nil
            return nil
        }
        guard let noticedAt = self.noticedAt, self.runs == runs else {
            self.runs = runs
            self.noticedAt = now
            self.isReported = false
            return nil
        }
        guard !self.isReported, now - noticedAt >= self.threshold else { return nil }
        self.isReported = true
        return now - noticedAt
    }
}
