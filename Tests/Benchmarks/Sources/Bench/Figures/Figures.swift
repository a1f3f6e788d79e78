import Measure

/// All figures.
enum Figures {
    /// A group of figures that share their subjects.
    ///
    /// A group is created when its turn comes, and released afterwards, so that its objects do not exist
    /// while another group is measured.
    struct Group {
        let names: [String]
        let make: () throws -> [Figure]
    }

    static func groups(_ options: Options) -> [Group] {
        self.inOneProcess(options) + self.overNATS + [
            Group(names: options.counted.map(\.name)) { Self.counted(options.counted) }
        ]
    }

    private static var overNATS: [Group] {
        #if Cluster
        [
            Group(
                names: [
                    "nats.request", "nats.request-64", "nats.publish", "nats.no-route", "nats.many-nodes",
                ],
                make: Self.cluster
            )
        ]
        #else
        []
        #endif
    }

    private static func inOneProcess(_ options: Options) -> [Group] {
        [
            Group(
                names: [
                    "route.same-loop", "route.module", "route.same-loop-closure", "route.same-loop-async",
                    "route.same-loop-async-on", "route.same-loop-suspending", "route.with-deadline",
                    "route.with-deadline-raced", "loop.actor-call",
                ],
                make: Self.sameLoop
            ),
            Group(
                names: ["service.call", "route.typed-url", "route.second-loop"],
                make: Self.sameLoopOtherwise
            ),
            Group(names: ["route.middleware-2", "route.middleware-2-async"], make: Self.middleware),
            Group(
                names: [
                    "route.cross-loop", "route.cross-loop-parked", "route.cross-loop-64",
                    "route.cross-loop-64-async", "route.cross-loop-64-spin",
                ],
                make: Self.crossLoop
            ),
            Group(
                names: ["serial.route", "serial.send", "deadlines.10k", "deadlines.10k-outside"],
                make: Self.delivery
            ),
            Group(names: ["send", "send.off-loop", "send.memory"]) { try Self.send(isQuick: options.quick) },
            Group(names: ["publish.100"], make: Self.publish),
            Group(names: ["stream.echo", "stream.echo-64k"], make: Self.streams),
            Group(
                names: [
                    "serve.call", "serve.call-64", "serve.call-64-connections", "serve.call-64-redis",
                    "serve.stopped-reader", "serve.progress", "serve.idle-memory", "serve.cancel",
                ],
                make: Self.serving
            ),
            Group(names: ["http.call-32", "http.route-32", "http.call"], make: Self.web),
            Group(names: ["publish.10k-patterns"], make: Self.publishAmongMany),
            Group(
                names: ["match.github", "match.github-trie", "match.static", "match.query"],
                make: Self.match
            ),
            Group(names: ["match.growth", "match.growth-cold"], make: Self.growth),
            Group(names: [4, 8, 16, 32, 64].map { "match.hostile-\($0)" }, make: Self.hostile),
            Group(
                names: ["table.insert-100k", "bus.register-100k", "memory.100k-routes"],
                make: Self.bigTable
            ),
            Group(names: ["documents.1000"], make: Self.documents),
            Group(
                names: [
                    "durable.send", "durable.send-from-task", "durable.handle-256", "durable.delay-p99",
                    "durable.open-1m", "durable.memory-1m", "durable.checkpoint-stall",
                ],
                make: { try Self.durable() }
            ),
        ]
            + QueueServer.Kind.allCases.map { kind in
                Group(names: kind.figures) { try Self.durable(besides: kind) }
            }
    }
}
