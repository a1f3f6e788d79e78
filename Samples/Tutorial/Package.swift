// swift-tools-version: 6.2
import PackageDescription

/// A product of the repository.
func product(_ name: String) -> Target.Dependency { .product(name: name, package: "waybill") }

let waybill = product("Waybill")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")

/// A program of the tutorial.
func step(_ name: String, _ path: String, with libraries: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: [waybill] + libraries, path: path)
}

// The folder `../waybill` is a link to the root of the repository, so the dependency looks as in a user's package.
//
// Each step of the tutorial is a target that builds against the repository as a user's package would.
let package = Package(
    name: "tutorial",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(
            name: "waybill",
            path: "../waybill",
            traits: ["Macros", "Serve", "HTTP", "NATS", "Durable"]
        ),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    ],
    targets: [
        step("OneModule", "1-one-module"),
        step("TwoModules", "2-two-modules"),
        step("Progress", "3-progress"),
        .target(name: "Cafe", dependencies: [waybill], path: "4-tests/Sources"),
        .testTarget(
            name: "CafeTests",
            dependencies: ["Cafe", waybill, product("WaybillTesting")],
            path: "4-tests/Tests"
        ),
        step("Server", "5-sockets", with: product("WaybillServe"), product("WaybillHTTP"), hummingbird),
        step("Console", "6-console", with: product("WaybillConsole"), hummingbird),
        step("TwoProcesses", "7-two-processes", with: product("WaybillServe")),
        step("MenuNode", "8-nats/Menu", with: product("WaybillNATS")),
        step("OrdersNode", "8-nats/Orders", with: product("WaybillNATS")),
        step("Durable", "9-durable", with: product("WaybillDurable")),
        step("Simulation", "10-simulation", with: product("WaybillSimulation")),
    ]
)
