#if Tool
import Testing
import WaybillEventLoop

@testable import WaybillTool

@Suite struct ServerAddressTests {
    @Test(arguments: [
        ("/run/shop.sock", StreamAddress.unix("/run/shop.sock")),
        ("shop.sock", .unix("shop.sock")),
        ("unix:a:b", .unix("a:b")),
        ("./host:80", .unix("./host:80")),
        ("127.0.0.1:7000", .tcp("127.0.0.1", port: 7000)),
        ("tcp:localhost:1", .tcp("localhost", port: 1)),
        ("[::1]:7000", .tcp("::1", port: 7000)),
    ])
    func `a server address is a path, or a host and a port`(argument: String, expected: StreamAddress) {
        #expect(ServerAddress(argument: argument)?.value == expected)
    }

    @Test(arguments: ["", "unix:", ":80", "host:", "host:port", "host:65536", "::1:7000", "tcp:/a"])
    func `a text that is neither a path nor a host and a port is not an address`(argument: String) {
        #expect(ServerAddress(argument: argument) == nil)
    }

    @Test(arguments: [("250ms", 0.25), ("2s", 2), ("1.5s", 1.5), ("3m", 180), ("7", 7)])
    func `a duration on the command line has a unit`(argument: String, seconds: Double) {
        #expect(TimeSpan(argument: argument)?.duration == .seconds(seconds))
    }

    @Test(arguments: ["", "s", "-1s", "2h", "1.2.3s", "1e3s"])
    func `a text without a number or with an unknown unit is not a duration`(argument: String) {
        #expect(TimeSpan(argument: argument) == nil)
    }
}
#endif
