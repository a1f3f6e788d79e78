// swift-tools-version: 6.2
import PackageDescription

let products = [
    "Waybill", "WaybillRouting", "WaybillEventLoop", "WaybillTesting", "WaybillServiceLifecycle",
    "WaybillConfiguration", "WaybillDocuments", "WaybillCommands", "WaybillMetrics", "WaybillTracing",
    "WaybillPerformances",
    "WaybillCompatibility", "WaybillServe", "WaybillNavigation",
]

// A package like one that a user creates: a dependency by path, the settings of a new package, no upcoming
// features. It sees only public declarations. It fails to build when a declaration is missing, needs an
// import that the documentation does not show, or does not compile as the documentation prints it.
let package = Package(
    name: "consumer",
    platforms: [.macOS(.v26)],
    traits: [
        .trait(name: "Web", description: "Uses WaybillWeb as well, whose client takes minutes to build."),
        .default(enabledTraits: []),
    ],
    dependencies: [
        // This dependency is a link to the repository, because a package is identified by its folder, and a
        // clone may have any name.
        .package(
            name: "waybill",
            path: "../../Samples/waybill",
            traits: [
                "ServiceLifecycle", "Metrics", "Tracing", "Macros", "Foundation", "Configuration", "Serve",
                "Tool",
                .trait(name: "Web", condition: .when(traits: ["Web"])),
            ]
        ),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.7.0"),
    ],
    targets: [
        // A program with its own loop includes the header of libuv.
        .systemLibrary(name: "HostUV", path: "HostUV", pkgConfig: "libuv"),
        .testTarget(
            name: "ConsumerTests",
            dependencies: products.map { .product(name: $0, package: "waybill") } + [
                "HostUV",
                .product(name: "WaybillWeb", package: "waybill", condition: .when(traits: ["Web"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests"
        ),
    ]
)
