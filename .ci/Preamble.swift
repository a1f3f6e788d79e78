// The examples of the documentation may use these declarations.
import Waybill
import WaybillEventLoop

struct User: Codable, Sendable, Equatable {
    var uid: Int
    var name: String
}

struct Receipt: Codable, Sendable, Equatable {
    var total: Int
}

struct Progress: Codable, Sendable {
    var percent: Int
    var isAcceptable: Bool { self.percent <= 100 }
}

actor Accounts: LoopBound {
    let eventLoop: EventLoop
    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
    func detail(uid: Int) -> User { User(uid: uid, name: "Lili") }
}

let eventLoop = EventLoop()
let bus = MessageBus(eventLoop: eventLoop)
let accounts = Accounts(eventLoop: eventLoop)

/// The parameters of a message that `app://user/<int:uid>` matches.
let parameters: Parameters = {
    guard let address = try? Address("app://user/7?page=2&tag=a&tag=b") else { fatalError("that is a URL") }
    return Parameters(address: address)
}()

/// An error that a module declares.
enum OrderError: ModuleError {
    case unknown(id: Int)

    var message: String { "there is no such order" }
}

/// A service, and a module that provides it for a time zone.
@Service("app://time")
public protocol TimeService: Sendable {
    func time(in city: String) async throws -> String
}

@Module("app://clock")
actor ClockModule: TimeService {
    private let zone: String
    init(zone: String) { self.zone = zone }
    func time(in city: String) -> String { "noon in \(city), \(self.zone)" }
}

/// A service as another module declares it for its own needs.
public protocol RequiredClock: Sendable {
    func now() async throws -> String
}
