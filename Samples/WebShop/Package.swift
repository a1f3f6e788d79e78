// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

let waybill = Target.Dependency.product(name: "Waybill", package: "waybill")

/// Returns the target of a module of the shop, whose folder is a link to `Samples/Shop`.
func module(_ name: String, resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: ["ShopAPI", waybill], resources: resources, swiftSettings: settings)
}

// The web shop is a separate package, so that the shop for the command line is built without a web server.
let package = Package(
    name: "web-shop",
    platforms: [.macOS(.v26)],
    products: [
        .executable(name: "web-shop", targets: ["WebShop"])
    ],
    traits: [
        .trait(name: "Cluster", description: "The shop as a node of a cluster; it needs libnats.")
    ],
    dependencies: [
        .package(
            name: "waybill",
            path: "../waybill",
            traits: [
                "Macros", "HTTP", "Serve", "ServiceLifecycle", "Configuration",
                .trait(name: "NATS", condition: .when(traits: ["Cluster"])),
            ]
        ),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .target(name: "ShopAPI", dependencies: [waybill], swiftSettings: settings),
        module("Accounts"),
        module("Catalog", resources: [.embedInCode("products.json")]),
        module("Cart"),
        module("Orders"),
        module("Payments"),
        module("Activity"),
        .target(
            name: "Routes",
            dependencies: [waybill, .product(name: "WaybillConfiguration", package: "waybill")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "WebShop",
            dependencies: [
                "ShopAPI", "Routes", "Accounts", "Catalog", "Cart", "Orders", "Payments", "Activity", waybill,
                .product(name: "WaybillEventLoop", package: "waybill"),
                .product(name: "WaybillConsole", package: "waybill"),
                .product(name: "WaybillHTTP", package: "waybill"),
                .product(name: "WaybillNATS", package: "waybill", condition: .when(traits: ["Cluster"])),
                .product(name: "WaybillServe", package: "waybill"),
                .product(name: "WaybillServiceLifecycle", package: "waybill"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WebShopTests",
            dependencies: [
                "WebShop", waybill,
                .product(name: "WaybillConsole", package: "waybill"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
    ]
)
