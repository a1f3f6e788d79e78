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
let eventLoop = Target.Dependency.product(name: "WaybillEventLoop", package: "waybill")

/// A module of the shop, which depends on the bus and the types of its values, and on no other module.
func module(_ name: String, resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: ["ShopAPI", waybill], resources: resources, swiftSettings: settings)
}

let package = Package(
    name: "shop",
    platforms: [.macOS(.v26)],
    products: [
        .executable(name: "shop", targets: ["Shop"])
    ],
    traits: [
        .trait(name: "Cluster", description: "The shop as several processes; it needs libnats.")
    ],
    dependencies: [
        // This dependency is a link to the repository, because a package is identified by its folder, and a
        // clone may have any name.
        .package(
            name: "waybill",
            path: "../waybill",
            traits: [
                "Macros", "Tool", "Configuration", "Durable",
                .trait(name: "NATS", condition: .when(traits: ["Cluster"])),
            ]
        ),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
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
            name: "Parcels",
            dependencies: [waybill, .product(name: "WaybillDurable", package: "waybill")],
            swiftSettings: settings
        ),
        // `Carriers` depends on nothing. The program connects it to the bus.
        .target(name: "Carriers", swiftSettings: settings),
        .target(
            name: "Routes",
            dependencies: [waybill, .product(name: "WaybillConfiguration", package: "waybill")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Shop",
            dependencies: [
                "ShopAPI", "Routes", "Accounts", "Catalog", "Cart", "Orders", "Payments", "Activity",
                "Carriers", "Parcels", waybill, eventLoop,
                .product(name: "WaybillCommands", package: "waybill"),
                .product(name: "WaybillServe", package: "waybill"),
                .product(name: "WaybillNavigation", package: "waybill"),
                .product(name: "WaybillDurable", package: "waybill"),
                .product(name: "WaybillNATS", package: "waybill", condition: .when(traits: ["Cluster"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                "Shop", "ShopAPI", "Carriers", "Catalog", "Orders", "Payments", waybill,
                .product(name: "WaybillTesting", package: "waybill"),
                .product(name: "WaybillSimulation", package: "waybill"),
                .product(name: "WaybillDurable", package: "waybill"),
            ],
            path: "Tests/ShopTests",
            swiftSettings: settings
        ),
    ]
)
