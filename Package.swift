// swift-tools-version: 6.2
import CompilerPluginSupport
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

// A package that turns the trait `Tool` off does not download this product. Other products below also depend on
// a trait.
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser",
    package: "swift-argument-parser",
    condition: .when(traits: ["Tool"])
)

// The plug-in of the macros runs in the compiler and needs these products of swift-syntax.
let macros = [
    "SwiftSyntax", "SwiftParser", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftCompilerPlugin",
    "SwiftDiagnostics",
].map {
    Target.Dependency.product(name: $0, package: "swift-syntax", condition: .when(traits: ["Macros"]))
}

let gateway: [Target.Dependency] = [
    .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["HTTP"])),
    .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTP"])),
    .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["HTTP"])),
    .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["HTTP"])),
    .product(
        name: "ServiceLifecycle",
        package: "swift-service-lifecycle",
        condition: .when(traits: ["HTTP"])
    ),
]

let package = Package(
    name: "waybill",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "WaybillRouting", targets: ["WaybillRouting"]),
        .library(name: "WaybillEventLoop", targets: ["WaybillEventLoop"]),
        .library(name: "Waybill", targets: ["Waybill"]),
        .library(name: "WaybillPerformances", targets: ["WaybillPerformances"]),
        .library(name: "WaybillNavigation", targets: ["WaybillNavigation"]),
        .library(name: "WaybillCompatibility", targets: ["WaybillCompatibility"]),
        .library(name: "WaybillServiceLifecycle", targets: ["WaybillServiceLifecycle"]),
        .library(name: "WaybillMetrics", targets: ["WaybillMetrics"]),
        .library(name: "WaybillTracing", targets: ["WaybillTracing"]),
        .library(name: "WaybillConfiguration", targets: ["WaybillConfiguration"]),
        .library(name: "WaybillDocuments", targets: ["WaybillDocuments"]),
        .library(name: "WaybillCommands", targets: ["WaybillCommands"]),
        .library(name: "WaybillWeb", targets: ["WaybillWeb"]),
        .library(name: "WaybillHTTP", targets: ["WaybillHTTP"]),
        .library(name: "WaybillConsole", targets: ["WaybillConsole"]),
        .library(name: "WaybillServe", targets: ["WaybillServe"]),
        .library(name: "WaybillNATS", targets: ["WaybillNATS"]),
        .executable(name: "waybill", targets: ["WaybillMain"]),
        .library(name: "WaybillDurable", targets: ["WaybillDurable"]),
        .library(name: "WaybillTesting", targets: ["WaybillTesting"]),
        .library(name: "WaybillSimulation", targets: ["WaybillSimulation"]),
        // C programs link this library without the Swift package manager.
        .library(name: "WaybillC", type: .dynamic, targets: ["WaybillC"]),
    ],
    traits: [
        .trait(name: "ServiceLifecycle", description: "The bus as a service of swift-service-lifecycle."),
        .trait(name: "Metrics", description: "A middleware that measures, with swift-metrics."),
        .trait(name: "Tracing", description: "A middleware that traces, with swift-distributed-tracing."),
        .trait(name: "Macros", description: "`@Module` and `@Route`, with swift-syntax."),
        .trait(name: "Foundation", description: "Foundation's Date, UUID and URL as parameters of routes."),
        .trait(
            name: "Configuration",
            description: "Routes that are read from JSON, YAML and property lists."
        ),
        .trait(name: "Web", description: "A connector for http and https URLs, with async-http-client."),
        .trait(name: "HTTP", description: "An HTTP gateway to the bus, as routes of Hummingbird."),
        .trait(name: "Serve", description: "A JSON-RPC server as a service of swift-service-lifecycle."),
        .trait(
            name: "Tool",
            description: "The command `waybill`, and the subcommand `routes` for other programs."
        ),
        // This trait is off by default, because it needs libnats, which some machines do not have.
        .trait(name: "NATS", description: "Modules in other processes and on other hosts, over NATS."),
        // This trait is off by default, because it needs the header of SQLite, which some machines do not have.
        .trait(
            name: "Durable",
            description: "Messages that survive the end of the process, in an SQLite file."
        ),
        .default(enabledTraits: [
            "ServiceLifecycle", "Metrics", "Tracing", "Macros", "Foundation", "Configuration", "Web",
            "HTTP", "Serve", "Tool",
        ]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.25.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibUV",
            pkgConfig: "libuv",
            providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]
        ),
        // Without the trait NATS, no target depends on this one, and the build does not look for libnats.
        .systemLibrary(
            name: "CNATS",
            pkgConfig: "libnats",
            providers: [.apt(["libnats-dev"]), .brew(["cnats"])]
        ),
        // Without the trait Durable, no target depends on this one, and the build does not look for SQLite.
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .target(name: "WaybillRouting", swiftSettings: settings),
        .target(
            name: "WaybillEventLoop",
            dependencies: ["CLibUV", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings
        ),
        .target(name: "WaybillMacros", dependencies: ["WaybillRouting"] + macros, swiftSettings: settings),
        .macro(name: "WaybillPlugin", dependencies: ["WaybillMacros"] + macros, swiftSettings: settings),
        .target(
            name: "Waybill",
            dependencies: [
                "WaybillRouting", "WaybillEventLoop", .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
                .target(name: "WaybillPlugin", condition: .when(traits: ["Macros"])),
            ],
            swiftSettings: settings
        ),
        // The next three targets contain features of other router libraries, which the bus itself does not need.
        .target(
            name: "WaybillPerformances",
            dependencies: ["Waybill", "WaybillEventLoop", "WaybillRouting"],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillNavigation",
            dependencies: ["Waybill", "WaybillEventLoop", "WaybillRouting"],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillCompatibility",
            dependencies: ["Waybill", "WaybillEventLoop", "WaybillRouting"],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillServiceLifecycle",
            dependencies: [
                "Waybill", "WaybillEventLoop",
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
                .target(name: "WaybillDurable", condition: .when(traits: ["Durable"])),
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
        .target(
            name: "WaybillConfiguration",
            dependencies: [
                "WaybillRouting",
                .product(name: "Yams", package: "Yams", condition: .when(traits: ["Configuration"])),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillDocuments",
            dependencies: ["Waybill", "WaybillEventLoop", "WaybillJSON", "WaybillRouting"],
            swiftSettings: settings
        ),
        // This target generates clients. The fixed parts of the clients are files in their languages.
        .target(
            name: "WaybillClients",
            dependencies: ["Waybill", "WaybillDocuments", "WaybillRouting"],
            resources: ["Python/runtime.py", "TypeScript/runtime.ts", "Swift/runtime.swift.txt"].map {
                .embedInCode($0)
            },
            swiftSettings: settings
        ),
        .target(
            name: "WaybillCommands",
            dependencies: ["Waybill", "WaybillDocuments", "WaybillRouting", argumentParser],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillWeb",
            dependencies: [
                "Waybill", "WaybillEventLoop", "WaybillJSON",
                .product(
                    name: "AsyncHTTPClient",
                    package: "async-http-client",
                    condition: .when(traits: ["Web"])
                ),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Web"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Web"])),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillHTTP",
            dependencies: [
                "Waybill", "WaybillDocuments", "WaybillEventLoop", "WaybillJSON", "WaybillRouting",
                .product(name: "Logging", package: "swift-log"),
            ] + gateway,
            swiftSettings: settings
        ),
        // The page of the console is embedded in the program, so the program needs no files at run time.
        .target(
            name: "WaybillConsole",
            dependencies: [
                "Waybill", "WaybillDocuments", "WaybillEventLoop", "WaybillHTTP", "WaybillJSON",
                "WaybillRouting",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
            ] + gateway,
            resources: [
                "index.html", "signin.html", "console.css", "deadletters.js", "diagram.js", "elements.js",
                "flow.js", "form.js", "keys.js", "list.js", "live.js", "main.js", "nodes.js", "routes.js",
                "signin.js", "statistics.js", "stores.js", "stream.js",
            ].map { .embedInCode("Page/\($0)") },
            swiftSettings: settings
        ),
        // This target encodes and decodes the values of messages from and to other processes as JSON.
        .target(
            name: "WaybillJSON",
            dependencies: ["Waybill", "WaybillRouting"],
            swiftSettings: settings
        ),
        // `CWaybill` has the header that C programs include, and `WaybillC` has its functions.
        .target(name: "CWaybill"),
        .target(
            name: "WaybillC",
            dependencies: ["CWaybill", "Waybill", "WaybillEventLoop", "WaybillJSON", "WaybillRouting"],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillServe",
            dependencies: [
                "Waybill", "WaybillDocuments", "WaybillEventLoop", "WaybillJSON", "WaybillRouting",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["Serve"])
                ),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillNATS",
            dependencies: [
                "Waybill", "WaybillDocuments", "WaybillEventLoop", "WaybillJSON", "WaybillRouting",
                "WaybillServe",
                .product(name: "Logging", package: "swift-log"),
                .target(name: "CNATS", condition: .when(traits: ["NATS"])),
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["NATS"])
                ),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillDurable",
            dependencies: [
                "Waybill", "WaybillEventLoop", "WaybillJSON", "WaybillRouting",
                .product(name: "Logging", package: "swift-log"),
                .target(name: "CSQLite", condition: .when(traits: ["Durable"])),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillTesting",
            dependencies: ["Waybill", "WaybillEventLoop", "WaybillRouting"],
            swiftSettings: settings
        ),
        // A simulation receives the jobs of tasks through variables of the Swift runtime.
        .target(name: "CSimulation"),
        // This file system for SQLite is a disk in memory that can lose its power.
        .target(
            name: "CFaultyDisk",
            dependencies: [.target(name: "CSQLite", condition: .when(traits: ["Durable"]))]
        ),
        .target(
            name: "WaybillSimulation",
            dependencies: [
                "CSimulation", "Waybill", "WaybillEventLoop", "WaybillJSON", "WaybillRouting",
                .target(name: "CFaultyDisk", condition: .when(traits: ["Durable"])),
                .target(name: "WaybillDurable", condition: .when(traits: ["Durable"])),
            ],
            swiftSettings: settings
        ),
        // The main file of the command `waybill` is a separate target, because a test can import only a library.
        .executableTarget(
            name: "WaybillMain",
            dependencies: ["WaybillTool", argumentParser],
            swiftSettings: settings
        ),
        .target(
            name: "WaybillTool",
            dependencies: [
                "Waybill", "WaybillClients", "WaybillCommands", "WaybillCompatibility", "WaybillDocuments",
                "WaybillEventLoop", "WaybillRouting", "WaybillServe",
                .target(name: "WaybillDurable", condition: .when(traits: ["Durable"])),
                .target(name: "WaybillNATS", condition: .when(traits: ["NATS"])),
                argumentParser,
                .product(name: "Logging", package: "swift-log"),
                // `waybill bench` prints percentiles of the durations of calls.
                .product(
                    name: "Histogram",
                    package: "hdrhistogram-swift",
                    condition: .when(traits: ["Tool"])
                ),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillToolTests",
            dependencies: [
                "WaybillTool", "Waybill", "WaybillDocuments", "WaybillEventLoop", "WaybillRouting",
                "WaybillServe", "WaybillNATS", "WaybillNATSTestSupport", "WaybillTestSupport",
                .target(name: "WaybillDurable", condition: .when(traits: ["Durable"])),
                argumentParser,
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillRoutingTests",
            dependencies: ["WaybillRouting", "WaybillCompatibility", "WaybillTestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillCompatibilityTests",
            dependencies: [
                "WaybillCompatibility", "Waybill", "WaybillEventLoop", "WaybillRouting", "WaybillTestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillPerformancesTests",
            dependencies: [
                "WaybillPerformances", "Waybill", "WaybillEventLoop", "WaybillRouting", "WaybillTestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillNavigationTests",
            dependencies: [
                "WaybillNavigation", "Waybill", "WaybillEventLoop", "WaybillRouting", "WaybillTestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillEventLoopTests",
            dependencies: ["WaybillEventLoop", "WaybillRouting", "WaybillTestSupport", "CLibUV", "CMeasure"],
            swiftSettings: settings
        ),
        // Tests read the size of the heap and the state of a thread through functions in C.
        .target(name: "CMeasure", path: "Tests/CMeasure"),
        // Several test targets use these gates, journals, modules and recorded data.
        .target(
            name: "WaybillTestSupport",
            dependencies: [
                "Waybill", "WaybillEventLoop", "WaybillRouting", "CLibUV", "CMeasure",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/WaybillTestSupport",
            resources: [.copy("Resources")],
            swiftSettings: settings
        ),
        // Tests start nodes of a cluster and NATS servers with this target.
        .target(
            name: "WaybillNATSTestSupport",
            dependencies: [
                "WaybillNATS", "Waybill", "WaybillEventLoop", "WaybillRouting", "WaybillTestSupport",
            ],
            path: "Tests/WaybillNATSTestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillTests",
            dependencies: [
                "Waybill", "WaybillCompatibility", "WaybillEventLoop", "WaybillRouting", "WaybillTesting",
                "WaybillTestSupport", "WaybillJSON", "WaybillNATS", "WaybillNATSTestSupport", "WaybillServe",
                "CMeasure",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillHTTPTests",
            dependencies: [
                "WaybillHTTP", "Waybill", "WaybillEventLoop", "WaybillJSON", "WaybillTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(
                    name: "AsyncHTTPClient",
                    package: "async-http-client",
                    condition: .when(traits: ["HTTP"])
                ),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["HTTP"])),
            ] + gateway,
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillConsoleTests",
            dependencies: [
                "WaybillConsole", "Waybill", "WaybillEventLoop", "WaybillHTTP", "WaybillJSON",
                "WaybillRouting",
                "WaybillTestSupport",
                .target(name: "WaybillDurable", condition: .when(traits: ["Durable"])),
                .product(name: "Logging", package: "swift-log"),
                .product(
                    name: "AsyncHTTPClient",
                    package: "async-http-client",
                    condition: .when(traits: ["HTTP"])
                ),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["HTTP"])),
            ] + gateway,
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillJSONTests",
            dependencies: ["WaybillJSON", "WaybillRouting"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillMacrosTests",
            dependencies: [
                "WaybillMacros",
                .product(
                    name: "SwiftSyntaxMacrosGenericTestSupport",
                    package: "swift-syntax",
                    condition: .when(traits: ["Macros"])
                ),
            ] + macros,
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillServiceLifecycleTests",
            dependencies: [
                "WaybillServiceLifecycle", "WaybillEventLoop", "WaybillTestSupport",
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
                .target(name: "WaybillDurable", condition: .when(traits: ["Durable"])),
                .product(name: "Logging", package: "swift-log"),
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
        .testTarget(
            name: "WaybillConfigurationTests",
            dependencies: ["WaybillConfiguration", "Waybill"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillDocumentsTests",
            dependencies: [
                "WaybillDocuments", "Waybill", "WaybillJSON", "WaybillRouting", "WaybillTestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillClientsTests",
            dependencies: [
                "ProbeProgram", "WaybillClients", "WaybillDocuments", "Waybill", "WaybillEventLoop",
                "WaybillHTTP", "WaybillJSON",
                "WaybillRouting", "WaybillServe", "WaybillTestSupport", "WaybillWeb",
                .product(name: "Logging", package: "swift-log"),
            ] + gateway,
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillCommandsTests",
            dependencies: ["WaybillCommands", "Waybill", "WaybillDocuments", argumentParser],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillTestingTests",
            dependencies: [
                "WaybillTesting", "WaybillCompatibility", "WaybillTestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        // These programs have defects that a simulation must find.
        .target(
            name: "PlantedBugs",
            dependencies: ["Waybill", "WaybillSimulation", "WaybillTestSupport"],
            path: "Tests/PlantedBugs",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "SimulationProgram",
            dependencies: ["PlantedBugs", "Waybill", "WaybillSimulation"],
            path: "Tests/SimulationProgram",
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillSimulationTests",
            dependencies: [
                "PlantedBugs", "SimulationProgram", "Waybill", "WaybillEventLoop", "WaybillNATS",
                "WaybillNATSTestSupport", "WaybillSimulation", "WaybillTestSupport",
                .target(name: "WaybillDurable", condition: .when(traits: ["Durable"])),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillWebTests",
            dependencies: [
                "WaybillWeb", "WaybillEventLoop", "WaybillTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(
                    name: "AsyncHTTPClient",
                    package: "async-http-client",
                    condition: .when(traits: ["Web"])
                ),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Web"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Web"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Web"])),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillServeTests",
            dependencies: [
                "WaybillServe", "Waybill", "WaybillEventLoop", "WaybillJSON", "WaybillRouting",
                "WaybillTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(
                    name: "ServiceLifecycleTestKit",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["Serve"])
                ),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillNATSTests",
            dependencies: [
                "WaybillNATS", "Waybill", "WaybillEventLoop", "WaybillJSON", "WaybillNATSTestSupport",
                "WaybillRouting", "WaybillServe", "WaybillTestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WaybillDurableTests",
            dependencies: [
                "WaybillDurable", "Waybill", "WaybillEventLoop", "WaybillRouting", "WaybillTestSupport",
                "LedgerProgram", "WaybillServe",
                "WaybillSimulation",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        // This program uses the public declarations, with the settings of a new package.
        .executableTarget(name: "Face", dependencies: ["Waybill", "WaybillEventLoop"], path: "Tests/Face"),
        // Tests of clusters start several processes of this program, each of which is a node.
        .executableTarget(
            name: "ClusterProgram",
            dependencies: ["Waybill", "WaybillEventLoop", "WaybillNATS"],
            path: "Tests/ClusterProgram",
            swiftSettings: settings
        ),
        // `.ci/attacks` attacks the server of this program.
        .executableTarget(
            name: "AttackedProgram",
            dependencies: ["Waybill", "WaybillEventLoop", "WaybillHTTP", "WaybillNATS", "WaybillServe"]
                + gateway,
            path: "Tests/AttackedProgram",
            swiftSettings: settings
        ),
        // Tests kill this program while generated clients use it, and measure its own client.
        .executableTarget(
            name: "ProbeProgram",
            dependencies: ["Waybill", "WaybillEventLoop", "WaybillHTTP", "WaybillServe", "WaybillWeb"]
                + gateway,
            path: "Tests/ProbeProgram",
            swiftSettings: settings
        ),
        // Tests kill this program, and then read the messages in the file of its store.
        .executableTarget(
            name: "LedgerProgram",
            dependencies: ["Waybill", "WaybillDurable"],
            path: "Tests/LedgerProgram",
            swiftSettings: settings
        ),
        // These are separate programs, because tests can neither end their process nor use the main thread.
        .executableTarget(
            name: "ExitProgram",
            dependencies: ["WaybillEventLoop", "CLibUV"],
            path: "Tests/ExitProgram",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "MainActorProgram",
            dependencies: ["Waybill", "WaybillEventLoop"],
            path: "Tests/MainActorProgram",
            swiftSettings: settings + [.defaultIsolation(MainActor.self)]
        ),
    ]
)
