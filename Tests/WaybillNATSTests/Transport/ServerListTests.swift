import Testing

@testable import WaybillNATS

/// The servers that a connection may use.
struct ServerListTests {
    @Test(arguments: [
        ("nats://127.0.0.1:4222", true), ("localhost", true), ("nats://u:p@[::1]:4222", true),
        ("nats://127.example.com", false), ("nats://10.0.0.1", false), ("tls://10.0.0.1", true),
        ("http://127.0.0.1", false), ("nats://127.0.0.1@evil.example", false), ("", false),
    ])
    func `a server on another machine needs encryption`(url: String, isAllowed: Bool) {
        let objection = ServerList([url], usesTLS: false, allowsPlaintext: false).objection
        #expect((objection == nil) == isAllowed)
    }

    @Test func `servers that a server names are used with the same user and the same rules`() {
        var servers = ServerList(["nats://shop:secret@127.0.0.1:1"], usesTLS: false, allowsPlaintext: false)
        servers.setDiscovered(["nats://127.0.0.1:2", "nats://10.0.0.1:2", "nonsense://"])
        #expect(servers.all == ["nats://shop:secret@127.0.0.1:1", "nats://shop:secret@127.0.0.1:2"])
        servers.setDiscovered(["nats://127.0.0.1:3"])
        #expect(servers.all == ["nats://shop:secret@127.0.0.1:1", "nats://shop:secret@127.0.0.1:3"])
        var open = ServerList(["nats://10.0.0.1:1"], usesTLS: false, allowsPlaintext: true)
        open.setDiscovered(["nats://10.0.0.1:1", "nats://10.0.0.2:1"])
        #expect(open.all == ["nats://10.0.0.1:1", "nats://10.0.0.2:1"])
        var encrypted = ServerList(["tls://10.0.0.1:1"], usesTLS: false, allowsPlaintext: false)
        encrypted.setDiscovered(["nats://10.0.0.2:1"])
        #expect(encrypted.all == ["tls://10.0.0.1:1", "nats://10.0.0.2:1"])
        #expect(encrypted.usesTLS)
    }
}
