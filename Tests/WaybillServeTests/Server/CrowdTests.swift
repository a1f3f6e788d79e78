import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// More connections than free descriptors, and as many connections as the server admits.
///
/// Each test runs in a separate process, because descriptors belong to the process.
@Suite(.timeLimit(.minutes(3)))
struct CrowdTests {
    @Test(
        .enabled(
            if: hardDescriptorLimit >= clientDescriptors && !Scale.isSanitized,
            "the system allows too few descriptors, or a sanitizer sees what a test process leaves behind"
        )
    )
    func `a server without free descriptors serves its connections, and new ones later`() async {
        await #expect(processExitsWith: .success) {
            try await withServer { served in
                try served.bus.register("app://one") { _ in 1 }
                try served.bus.expose("app://one")
                try leaveDescriptors(40)
                let status = try await crowd(
                    at: served.address,
                    """
                    all = [connect() for _ in range(60)]
                    for one in all[:10]: call(one)
                    for one in all: one.close()
                    call(connect())
                    """
                )
                precondition(status == 0)
                let balances = await served.balances()
                precondition(balances)
            }
        }
    }

    @Test(
        .enabled(
            if: hardDescriptorLimit >= clientDescriptors && !Scale.isSanitized,
            "the system allows too few descriptors, or a sanitizer sees what a test process leaves behind"
        )
    )
    func `ten thousand connections at once are served in bounded memory`() async {
        await #expect(processExitsWith: .success) {
            try limitDescriptors(to: 12_000)
            var configuration = RPCServer.Configuration.quiet
            // The last connections may send their message late.
            configuration.limits.messageTime = .seconds(120)
            try await withServer(configuration: configuration) { served in
                try served.bus.register("app://one") { _ in 1 }
                try served.bus.expose("app://one")
                let before = residentMemory()
                let status = try await crowd(
                    at: served.address,
                    """
                    all = [connect() for _ in range(\(Scale.of(10_000)))]
                    for one in all: call(one)
                    call(all[0])
                    print("served", flush=True)
                    sys.stdin.read()
                    """
                ) {
                    precondition(served.server.statistics.openConnections == Scale.of(10_000))
                    // The limit is 16 KiB for each connection, and half a megabyte for shared state.
                    let limit = 10_000 * 16_384 + (1 << 19)
                    precondition(residentMemory() - before < limit || Scale.isSanitized)
                }
                precondition(status == 0)
                let balances = await served.balances()
                precondition(balances)
            }
        }
    }
}

/// The number of descriptors that the clients may have.
private let clientDescriptors = 12_000

/// The maximum number of descriptors of a process.
private var hardDescriptorLimit: UInt64 {
    var limit = rlimit()
    // SAFETY: the call fills the structure it is given, and keeps no pointer to it.
    guard unsafe getrlimit(descriptorLimit, &limit) == 0 else { return 0 }
    return UInt64(limit.rlim_max)
}

#if canImport(Darwin)
private let descriptorLimit = RLIMIT_NOFILE
#else
private let descriptorLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#endif

/// Sets the number of descriptors that this process may have.
private func limitDescriptors(to count: Int) throws {
    var limit = rlimit(rlim_cur: rlim_t(count), rlim_max: rlim_t(hardDescriptorLimit))
    // SAFETY: the call reads the structure it is given, and keeps no pointer to it.
    guard unsafe setrlimit(descriptorLimit, &limit) == 0 else { throw CocoaError(.featureUnsupported) }
}

/// Limits the number of further descriptors that this process can open.
private func leaveDescriptors(_ count: Int) throws {
    let inUse = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    let highest = inUse.compactMap { Int32($0) }.max() ?? 2
    // The limit applies to descriptor numbers, and a test process may have inherited a high number. The
    // function therefore occupies the free numbers below it, and does not release them.
    var taken: Int32 = 0
    while taken < highest {
        taken = dup(STDIN_FILENO)
        guard taken >= 0 else { throw CocoaError(.featureUnsupported) }
    }
    try limitDescriptors(to: Int(taken) + 1 + count)
}

/// The number of resident bytes of the process.
private func residentMemory() -> Int {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return (pages.flatMap { Int($0[1]) } ?? 0) * 4096
}

/// Runs Python clients in a process with its own descriptors.
///
/// - Parameters:
///   - address: The address of the server.
///   - script: The script of the clients, with `connect()` and `call(connection)`.
///   - served: Runs when the script has printed something. The script's standard input ends afterwards.
/// - Returns: The exit status of the script.
/// - Throws: The error of `served`.
private func crowd(
    at address: StreamAddress,
    _ script: String,
    served: (() async throws -> Void)? = nil
) async throws -> Int32 {
    guard case .unix(let path) = address else { return -1 }
    let prelude = """
        import resource, socket, sys
        resource.setrlimit(resource.RLIMIT_NOFILE, (\(clientDescriptors), \(clientDescriptors)))

        def connect():
            one = socket.socket(socket.AF_UNIX)
            one.connect("\(path)")
            # Before, a full backlog would be an error instead of a wait.
            one.settimeout(60)
            return one

        def call(one):
            one.sendall(b'{"jsonrpc":"2.0","id":1,"method":"app://one"}\\n')
            answer = one.recv(1000)
            assert answer == b'{"jsonrpc":"2.0","id":1,"result":1}\\n', answer


        """
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", prelude + script]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in end.finish() }
    try process.run()
    if let served {
        let (said, say) = AsyncStream.makeStream(of: Void.self)
        output.fileHandleForReading.readabilityHandler = { _ in say.finish() }
        for await _ in said {}
        output.fileHandleForReading.readabilityHandler = nil
        try await served()
    }
    try input.fileHandleForWriting.close()
    for await _ in ended {}
    return process.terminationStatus
}
