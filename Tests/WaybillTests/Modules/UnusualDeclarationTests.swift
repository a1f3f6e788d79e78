#if Macros

import Testing
package import Waybill
import WaybillTestSupport

/// Types with the names that generated code also uses.
package enum Names {
    package struct Value: Sendable { package let number: Int }
    package struct Provider: Sendable { package let name: String }
}

@Service("app://names")
package protocol NamedService: Sendable {
    typealias Value = Names.Value
    typealias Provider = Names.Provider

    func value() async throws -> Value
    func add(_ provider: Provider) async throws -> String
}

@Service("app://counting")
package protocol CountingService: Sendable {
    func count() async throws -> Int
    func methods() async throws -> [String]
}

/// A module whose services stand in a composition.
@Module("app://composed")
private actor Composed: NamedService & CountingService {
    /// A property with the name of a generated static property.
    private let services = ["count"]

    func value() -> Names.Value { Names.Value(number: 7) }
    func add(_ provider: Names.Provider) -> String { provider.name }
    func count() -> Int { 1 }
    func methods() -> [String] { self.services }
}

/// A service with a parameter that has the name of the instance.
@Service("app://mirror")
package protocol MirrorService: Sendable {
    func length(self: String) async throws -> Int
}

/// A module whose argument labels are keywords or contain a space.
@Module("app://labels")
private actor Labels: MirrorService {
    @Route func add(self: Int, init: Int, `inout`: Int, `let`: Int, `var`: Int) -> [Int] {
        [`self`, `init`, `inout`, `let`, `var`]
    }

    @Route func put(for a: Int, `inout` b: Int, `var` c: Int, `in stock` d: Int) -> [Int] { [a, b, c, d] }

    @Route("/read/:let/:inout") func read(_ message: Message) -> String { message.parameters.url }

    func length(self: String) -> Int { `self`.count }
}

package enum Shop {}

extension Shop {
    /// An actor that has the access level of its extension.
    @Module("app://till")
    package actor Till {
        /// Opens the till. A separator of lines may be part of a comment.
        @available(swift 5.9)
        @Route func open() -> Int { 1 }

        @Route func context() -> String { "the method" }
    }
}

@Suite
struct UnusualDeclarationTests {
    @Test func `services in a composition are provided`() async throws {
        let bus = MessageBus()
        try await bus.install { Composed() }
        let counting = try bus.service((any CountingService).self)
        #expect(try await counting.count() == 1)
        #expect(try await counting.methods() == ["count"])
        let service = try bus.service((any NamedService).self)
        #expect(try await service.value().number == 7)
        #expect(try await service.add(Names.Provider(name: "a")) == "a")
    }

    @Test func `argument labels may be keywords and raw identifiers`() async throws {
        let bus = MessageBus()
        try await bus.install { Labels() }
        let names = Labels.urls.add(self: 1, init: 2, `inout`: 3, let: 4, var: 5)
        #expect(try await bus.route(names) == [1, 2, 3, 4, 5])
        let labels = Labels.urls.put(for: 1, `inout`: 2, var: 3, `in stock`: 4)
        #expect(try await bus.route(labels) == [1, 2, 3, 4])
        #expect(try await bus.route(Labels.urls.read(let: "a", `inout`: "b")) == "app://labels/read/a/b")
        #expect(try await bus.service((any MirrorService).self).length(self: "four") == 4)
    }

    @Test func `a module has the access level of its extension, and may have a method context`() async throws
    {
        let bus = MessageBus()
        try await bus.install { Shop.Till() }
        #expect(try await bus.route("app://till/open", as: Int.self) == 1)
        #expect(try await bus.route("app://till/context", as: String.self) == "the method")
    }
}

#endif
