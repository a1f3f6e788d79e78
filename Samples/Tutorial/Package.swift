// swift-tools-version: 6.2
import PackageDescription

let waybill = Target.Dependency.product(name: "Waybill", package: "waybill")
let serve = Target.Dependency.product(name: "WaybillServe", package: "waybill")
let testing = Target.Dependency.product(name: "WaybillTesting", package: "waybill")

// Each step of the tutorial is a target that builds against the repository as a user's package would.
let package = Package(
    name: "tutorial",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "waybill", path: "../waybill", traits: ["Macros", "Serve"])
    ],
    targets: [
        .executableTarget(name: "OneModule", dependencies: [waybill], path: "1-one-module"),
        .executableTarget(name: "TwoModules", dependencies: [waybill], path: "2-two-modules"),
        .executableTarget(name: "Progress", dependencies: [waybill], path: "3-progress"),
        .target(name: "Cafe", dependencies: [waybill], path: "4-tests/Sources"),
        .testTarget(name: "CafeTests", dependencies: ["Cafe", waybill, testing], path: "4-tests/Tests"),
        .executableTarget(name: "Server", dependencies: [waybill, serve], path: "5-socket"),
        .executableTarget(name: "TwoProcesses", dependencies: [waybill, serve], path: "6-two-processes"),
    ]
)
