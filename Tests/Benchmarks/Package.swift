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

let waybill: [Target.Dependency] = [
    .product(name: "Waybill", package: "waybill"),
    .product(name: "WaybillEventLoop", package: "waybill"),
    .product(name: "WaybillRouting", package: "waybill"),
    .product(name: "WaybillServe", package: "waybill"),
]

// The benchmarks are a separate package, so that users of the library do not download the peers.
let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v26)],
    traits: [
        .trait(name: "Cluster", description: "Two nodes beside libnats; it needs libnats.")
    ],
    dependencies: [
        // This dependency is a link to the repository, because a package is identified by its folder, and a
        // clone may have any name. Only the trait of the gateway is enabled, because Hummingbird is built
        // anyway. The code of macros is written by hand, because swift-syntax takes ten minutes to build in
        // release mode.
        .package(
            name: "waybill",
            path: "../../Samples/waybill",
            traits: ["HTTP", "Durable", .trait(name: "NATS", condition: .when(traits: ["Cluster"]))]
        ),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CUVPeer",
            pkgConfig: "libuv",
            providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]
        ),
        // C code that reads the size of the heap, and runs two bare libuv loops that wake each other.
        .target(
            name: "CMeasure",
            dependencies: ["CUVPeer"],
            linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux])), .linkedLibrary("sqlite3")]
        ),
        // A malloc that counts. It slows down programs, so only `Workload` is linked with it.
        .target(name: "CMallocCount"),
        .target(name: "Measure", dependencies: ["CMeasure"], swiftSettings: settings),
        .target(
            name: "Subjects",
            dependencies: waybill + [
                "Measure", "CMeasure",
                .product(name: "WaybillHTTP", package: "waybill"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            resources: [.embedInCode("github-routes.txt")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Bench",
            dependencies: waybill + [
                "Measure", "Subjects", "CMeasure",
                .product(name: "WaybillDocuments", package: "waybill"),
                .product(name: "WaybillDurable", package: "waybill"),
                .product(name: "WaybillNATS", package: "waybill", condition: .when(traits: ["Cluster"])),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Workload",
            dependencies: waybill + [
                "Subjects", "CMallocCount", "CMeasure",
                .product(name: "WaybillConsole", package: "waybill"),
                .product(name: "WaybillDurable", package: "waybill"),
                .product(name: "WaybillNATS", package: "waybill", condition: .when(traits: ["Cluster"])),
            ],
            swiftSettings: settings
        ),
    ]
)
