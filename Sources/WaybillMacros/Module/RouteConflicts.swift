#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import WaybillRouting

/// Detects conflicts between the routes of one module.
struct RouteConflicts {
    /// One clause of an `#if`.
    struct Branch: Equatable {
        let condition: SyntaxIdentifier
        let clause: Int
    }

    private struct Entry {
        let method: RouteMethod
        let branches: [Branch]
    }

    private let reporter: Reporter
    private var table = RouteTable<Int>()
    private var entries: [Entry] = []

    init(_ reporter: Reporter) { self.reporter = reporter }

    /// Adds a route, or reports the conflict and returns false if the route conflicts with another route.
    mutating func add(_ method: RouteMethod, _ branches: [Branch]) -> Bool {
        let entry = Entry(method: method, branches: branches)
        if let rival = self.entries.first(where: { Self.haveOneBuilder($0, entry) }) {
            self.reporter.report(
                "this method would have the same typed URL as another `\(method.name)`: rename one of them",
                at: method.function.name,
                notes: [Note(node: Syntax(rival.method.function.name), message: Misuse("the other method"))]
            )
            return false
        }
        let isFree = (try? self.table.insert(method.pattern.text, 0)) != nil
        if !isFree, let other = self.entries.first(where: { Self.conflict($0, entry) }) {
            let rival = other.method
            let areConditional = !branches.isEmpty && !other.branches.isEmpty && branches != other.branches
            let hint = "; if no build contains both, write them in the `#if` and `#else` of one condition"
            self.reporter.report(
                "`\(method.name)` matches the same URLs as `\(rival.name)`, "
                    + "whose pattern is \(rival.pattern.text)\(areConditional ? hint : "")",
                at: method.place,
                notes: [Note(node: rival.place, message: Misuse("`\(rival.name)` is here"))]
            )
            return false
        }
        self.entries.append(entry)
        return true
    }

    private static func conflict(_ one: Entry, _ other: Entry) -> Bool {
        guard !self.exclude(one, other) else { return false }
        var table = RouteTable<Int>()
        do throws(RoutingError) {
            try table.insert(one.method.pattern.text, 0)
            try table.insert(other.method.pattern.text, 0)
            return false
        } catch {
            return true
        }
    }

    /// Returns whether two routes are in different clauses of the same `#if`, so that no build contains both.
    private static func exclude(_ one: Entry, _ other: Entry) -> Bool {
        one.branches.contains { branch in
            other.branches.contains { $0.condition == branch.condition && $0.clause != branch.clause }
        }
    }

    /// Returns whether two methods would have the same URL builder.
    ///
    /// A URL builder has no parameter for the message, so two methods that differ only in such parameters
    /// have the same URL builder. A pattern with unnamed parts has no URL builder.
    private static func haveOneBuilder(_ one: Entry, _ other: Entry) -> Bool {
        guard one.method.name == other.method.name, !self.exclude(one, other),
            one.method.pattern.canBePrinted, other.method.pattern.canBePrinted
        else { return false }
        return URLBuilder(one.method).signature == URLBuilder(other.method).signature
    }
}

#endif
