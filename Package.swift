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

// Behind traits, which are on by default, is what not everybody needs: who turns one off does not download it.
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser",
    package: "swift-argument-parser",
    condition: .when(traits: ["Tool"])
)

let package = Package(
    name: "waybill",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "WaybillRouting", targets: ["WaybillRouting"]),
        .library(name: "WaybillEventLoop", targets: ["WaybillEventLoop"]),
        .library(name: "Waybill", targets: ["Waybill"]),
        .library(name: "WaybillServiceLifecycle", targets: ["WaybillServiceLifecycle"]),
        .executable(name: "waybill", targets: ["WaybillTool"]),
    ],
    traits: [
        .trait(name: "ServiceLifecycle", description: "The bus as a service of swift-service-lifecycle."),
        .trait(name: "Tool", description: "The command `waybill`."),
        .default(enabledTraits: ["ServiceLifecycle", "Tool"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.7.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibUV",
            pkgConfig: "libuv",
            providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]
        ),
        .target(name: "WaybillRouting", swiftSettings: settings),
        .target(
            name: "WaybillEventLoop",
            dependencies: ["CLibUV", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings
        ),
        .target(
            name: "Waybill",
            dependencies: [
                "WaybillRouting", "WaybillEventLoop", .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillServiceLifecycle",
            dependencies: [
                "Waybill",
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])
                ),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "WaybillTool",
            dependencies: ["WaybillRouting", argumentParser],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillToolTests",
            dependencies: ["WaybillTool", argumentParser],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillRoutingTests",
            dependencies: ["WaybillRouting"],
            resources: [.copy("Resources")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillEventLoopTests",
            dependencies: ["WaybillEventLoop", "CLibUV"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillTests",
            dependencies: [
                "Waybill", "WaybillEventLoop", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillServiceLifecycleTests",
            dependencies: [
                "WaybillServiceLifecycle", "WaybillEventLoop",
                .product(
                    name: "ServiceLifecycleTestKit",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])
                ),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        // The public face as a program, with the settings of a new package.
        .executableTarget(name: "Face", dependencies: ["Waybill", "WaybillEventLoop"], path: "Tests/Face"),
    ]
)
