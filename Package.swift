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
        .library(name: "WaybillMetrics", targets: ["WaybillMetrics"]),
        .library(name: "WaybillTracing", targets: ["WaybillTracing"]),
        .executable(name: "waybill", targets: ["WaybillTool"]),
    ],
    traits: [
        .trait(name: "ServiceLifecycle", description: "The bus as a service of swift-service-lifecycle."),
        .trait(name: "Metrics", description: "A middleware that measures, with swift-metrics."),
        .trait(name: "Tracing", description: "A middleware that traces, with swift-distributed-tracing."),
        .trait(name: "Tool", description: "The command `waybill`."),
        .default(enabledTraits: ["ServiceLifecycle", "Metrics", "Tracing", "Tool"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
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
        .target(
            name: "WaybillMetrics",
            dependencies: [
                "Waybill",
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillTracing",
            dependencies: [
                "Waybill", "WaybillEventLoop",
                .product(
                    name: "Tracing",
                    package: "swift-distributed-tracing",
                    condition: .when(traits: ["Tracing"])
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
        // What the allocator knows of itself has no name in Swift.
        .target(name: "CMemory", path: "Tests/CMemory"),
        .testTarget(
            name: "WaybillTests",
            dependencies: [
                "Waybill", "WaybillEventLoop", "CMemory", .product(name: "Logging", package: "swift-log"),
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
        .testTarget(
            name: "WaybillMetricsTests",
            dependencies: [
                "WaybillMetrics",
                .product(
                    name: "MetricsTestKit",
                    package: "swift-metrics",
                    condition: .when(traits: ["Metrics"])
                ),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillTracingTests",
            dependencies: [
                "WaybillTracing", "WaybillEventLoop",
                .product(
                    name: "InMemoryTracing",
                    package: "swift-distributed-tracing",
                    condition: .when(traits: ["Tracing"])
                ),
            ],
            swiftSettings: settings
        ),
        // The public face as a program, with the settings of a new package.
        .executableTarget(name: "Face", dependencies: ["Waybill", "WaybillEventLoop"], path: "Tests/Face"),
    ]
)
