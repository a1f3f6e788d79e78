#if Macros
package import Waybill

// Declarations of this target belong to the main actor, unless they are marked as `nonisolated`.
@Service("app://time")
nonisolated package protocol TimeService: Sendable {
    func hour() async throws -> Int
}

@Module("app://clock")
actor Clock: TimeService {
    func hour() -> Int { 9 }
}
#endif
