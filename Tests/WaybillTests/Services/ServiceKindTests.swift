#if Macros

import Testing
package import Waybill
import WaybillTestSupport

package protocol Shape: Sendable { var corners: Int { get } }

struct Square: Shape { var corners: Int { 4 } }

/// Methods whose types need parentheses or attributes where the macro writes them as expressions.
@Service("app://shapes")
package protocol Shapes: Sendable {
    typealias Done = @Sendable (Int) -> Int

    func shape() async throws -> any Shape
    func shapeOrNil() async throws -> (any Shape)?
    func shapes() async throws -> [any Shape]
    func both() async throws -> any Shape & Sendable
    func closure() async throws -> @Sendable (Int) -> Int
    func run(done: @escaping Done) async throws -> Int
    func corners(of shape: any Shape, or other: (any Shape)?) async throws -> Int
}

@Module("app://drawing")
private actor Drawing: Shapes {
    func shape() -> any Shape { Square() }
    func shapeOrNil() -> (any Shape)? { Square() }
    func shapes() -> [any Shape] { [Square()] }
    func both() -> any Shape & Sendable { Square() }
    func closure() -> @Sendable (Int) -> Int { { $0 + 1 } }
    func run(done: @escaping Done) -> Int { done(1) }
    func corners(of shape: any Shape, or other: (any Shape)?) -> Int { shape.corners + (other?.corners ?? 0) }
}

@Service("app://greeter")
package protocol Greeting: Sendable {
    func hello(name: String) async throws -> String
}

/// A module with the URL of its service, and with an `@Route` that the service makes redundant.
@Module("app://greeter")
private actor Greeter: Greeting {
    @Route func hello(name: String) -> String { "hello \(name)" }
}

@Suite
struct ServiceKindTests {
    @Test
    func `existentials, closures and type aliases pass through a service`() async throws {
        let bus = MessageBus()
        try await bus.install { Drawing() }
        let shapes = try bus.service((any Shapes).self)
        #expect(try await shapes.shape().corners == 4)
        #expect(try await shapes.shapeOrNil()?.corners == 4)
        #expect(try await shapes.shapes().map(\.corners) == [4])
        #expect(try await shapes.both().corners == 4)
        #expect(try await shapes.closure()(1) == 2)
        #expect(try await shapes.run { $0 + 2 } == 3)
        #expect(try await shapes.corners(of: Square(), or: nil) == 4)
        #expect(try await shapes.corners(of: Square(), or: Square()) == 8)
    }

    @Test
    func `a route that repeats a method of its module's service is a conflict`() async throws {
        let bus = MessageBus()
        let error = await #expect(throws: RoutingError.self) { try await bus.install { Greeter() } }
        #expect(error?.code == .conflict)
        #expect(
            error?.message
                == "`hello` of Greeter handles app://greeter/hello twice, by `@Route` and by the service "
                + "`Greeting`: remove `@Route`"
        )
        #expect(bus.routes.isEmpty)
        #expect(throws: RoutingError.self) { try bus.service((any Greeting).self) }
    }
}

#endif
