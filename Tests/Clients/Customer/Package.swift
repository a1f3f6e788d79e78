// swift-tools-version: 6.2
import PackageDescription

// A program with a generated client, with the settings of a new package and warnings as errors.
let package = Package(
    name: "customer",
    platforms: [.macOS(.v26)],
    traits: [
        .trait(name: "Cluster", description: "As in the web shop.")
    ],
    dependencies: [
        // The traits are those of the web shop, so that both packages share one build of the libraries.
        .package(
            name: "waybill",
            path: "../../../Samples/waybill",
            traits: [
                "Macros", "HTTP", "Serve", "ServiceLifecycle", "Configuration",
                .trait(name: "NATS", condition: .when(traits: ["Cluster"])),
            ]
        )
    ],
    targets: [
        .executableTarget(
            name: "Customer",
            dependencies: [
                .product(name: "Waybill", package: "waybill"),
                .product(name: "WaybillServe", package: "waybill"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]
        ),
        // Calls of the next versions of random programs, which `Tests/Clients/pairs.py` makes.
        .executableTarget(
            name: "Pairs",
            dependencies: [
                .product(name: "Waybill", package: "waybill"),
                .product(name: "WaybillServe", package: "waybill"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]
        ),
    ]
)
