internal import Testing

@testable internal import WaybillEventLoop

struct JobWatchTests {
    @Test
    func `the job watch reports a long job once, when it has run for the threshold`() {
        var watch = JobWatch(threshold: 100)
        let reports = stride(from: 0, through: 300, by: 25).map { now in
            watch.sample(runs: 7, isBusy: true, at: Int64(now))
        }
        #expect(reports.compactMap { $0 } == [100])
        #expect(reports[4] == 100)
    }

    @Test
    func `the job watch reports neither a busy loop nor a sleeping loop`() {
        var watch = JobWatch(threshold: 100)
        for now in 0..<100 {
            let busy = watch.sample(runs: UInt(now), isBusy: true, at: Int64(now) * 90)
            #expect(busy == nil)
        }
        for now in 100..<200 {
            let asleep = watch.sample(runs: 5, isBusy: false, at: Int64(now) * 90)
            #expect(asleep == nil)
        }
    }

    @Test
    func `the job watch reports a second long job too`() {
        var watch = JobWatch(threshold: 100)
        var reports: [Int64] = []
        for now in stride(from: 0 as Int64, through: 1000, by: 50) {
            if let report = watch.sample(runs: now < 500 ? 1 : 2, isBusy: true, at: now) {
                reports.append(report)
            }
        }
        #expect(reports == [100, 100])
    }
}
