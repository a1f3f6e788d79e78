internal import Waybill
internal import WaybillRouting

/// A difference between a document and an older document.
public struct DocumentChange: Sendable, Hashable {
    /// Whether callers of the old routes fail, or receive unexpected values.
    public let isBreaking: Bool

    /// The pattern of the route that has changed.
    public let pattern: String

    /// The change, as a sentence.
    public let message: String
}

extension DocumentChange: CustomStringConvertible {
    /// The kind, the pattern and the message, such as `breaking: app://user/detail: the route is gone`.
    public var description: String {
        "\(self.isBreaking ? "breaking" : "compatible"): \(self.pattern): \(self.message)"
    }
}

extension BusDocument {
    /// Returns the differences from an older document, in the order of the patterns.
    ///
    /// A change breaks callers if a route is removed, accepts fewer values, is exposed for fewer operations,
    /// or requires more parameters. A change also breaks callers if a reply may have new values: a missing
    /// value, another type, or another case of an enumeration. If a type is opaque in both documents, which
    /// means that its values are not known, the type counts as unchanged.
    ///
    /// A progress reply is compared like a reply, and the answer to a progress reply like a parameter. A
    /// new declared error breaks callers, and so does another HTTP status of an error. If the older route
    /// declared no errors, its callers expect any error.
    ///
    /// - Parameter old: The older document.
    /// - Returns: The breaking and the compatible changes.
    public func changes(since old: BusDocument) -> [DocumentChange] {
        var changes: [DocumentChange] = []
        var (gone, added) = (old.routes, self.routes)
        // Two routes may differ only in the types of their values, so routes with equal types are compared
        // first.
        let keys: [(Route) -> String] = [
            { "\($0.identities) \($0.templates.flatMap(\.parameters).map(\.schema.json))" },
            { "\($0.identities)" },
        ]
        for key in keys {
            var candidates = Dictionary(grouping: added.reversed(), by: key)
            gone.removeAll { route in
                guard let new = candidates[key(route)]?.popLast() else { return false }
                changes += RouteComparison(route, new, old: old, new: self).changes
                return true
            }
            added = candidates.values.joined().sorted { $0.pattern < $1.pattern }
        }
        // If parts of the path become optional, the new route has the old URLs and others.
        var identities = added.map { Set($0.identities) }
        gone.removeAll { route in
            let kept = route.identities
            let matching = identities.indices.filter { identities[$0].isSuperset(of: kept) }
            guard let index = matching.min(by: { identities[$0].count < identities[$1].count }) else {
                return false
            }
            identities.remove(at: index)
            changes += RouteComparison(route, added.remove(at: index), old: old, new: self).changes
            return true
        }
        changes += gone.map {
            DocumentChange(isBreaking: true, pattern: $0.pattern, message: "the route is gone")
        }
        let patterns = added.isEmpty ? [] : old.routes.compactMap { try? RoutePattern($0.pattern) }
        changes += added.map {
            let shared = $0.sharedPatterns(with: patterns)
            let message = shared.isEmpty ? "a new route" : "a new route, which may handle URLs of \(shared)"
            return DocumentChange(isBreaking: false, pattern: $0.pattern, message: message)
        }
        return changes.sorted { ($0.pattern, $0.message) < ($1.pattern, $1.message) }
    }
}

extension BusDocument.Route {
    /// Returns the patterns that match a URL of this route, at most three of them, as a list in a sentence.
    fileprivate func sharedPatterns(with patterns: [RoutePattern]) -> String {
        guard let own = try? RoutePattern(self.pattern) else { return "" }
        let shared = patterns.filter { $0.mayOverlap(with: own) }.map(\.text)
        return shared.prefix(3).joined(separator: ", ") + (shared.count > 3 ? " and others" : "")
    }

    /// The route's URLs without the names of their parameters, by which documents are compared.
    fileprivate var identities: [String] { self.templates.map(\.identity) }

    /// Returns the values in the route's addresses, each with the value at the same place in a newer route.
    fileprivate func values(with new: Self) -> [(old: BusDocument.Placeholder, new: BusDocument.Placeholder)]
    {
        self.templates.flatMap { template in
            let other = new.templates.first { $0.identity == template.identity }
            return zip(template.parameters, other?.parameters ?? []).map { (old: $0, new: $1) }
        }
    }

    /// Whether every address of the route has the parameter's value, so that callers cannot pass it as JSON.
    fileprivate func isInAllAddresses(_ parameter: BusDocument.Parameter) -> Bool {
        self.templates.allSatisfy { template in
            template.parameters.contains { $0.name == parameter.name && $0.isCaptured }
        }
    }
}

extension BusDocument.Parameter {
    /// Whether the parameter accepts any text that is not empty.
    fileprivate var isAnyText: Bool {
        self.schema == .string || self.schema == SchemaRegistry.pattern(type: "string", expression: nil)
    }
}

extension BusDocument.Placeholder {
    /// Returns whether the placeholder accepts any text, and an older version had a type or an expression.
    fileprivate func isAnyText(after old: Self) -> Bool { self.type == "string" && old.type != "string" }
}

extension BusDocument.AddressTemplate {
    /// The address without the names in braces.
    fileprivate var identity: String {
        var types = self.parameters.map(\.type)[...]
        var identity = "\(self.scheme)://"
        var isName = false
        for character in self.segments.joined(separator: "/") {
            if character == "{" { identity += types.popFirst() == "path" ? "{**" : "{" }
            if character == "{" || character == "}" { isName = character == "{" }
            if !isName { identity.append(character) }
        }
        return identity
    }
}

/// Compares two versions of one route.
private struct RouteComparison {
    private let pattern: String
    private(set) var changes: [DocumentChange] = []

    init(
        _ old: BusDocument.Route,
        _ new: BusDocument.Route,
        old oldDocument: BusDocument,
        new document: BusDocument
    ) {
        self.pattern = old.pattern
        let requests = SchemaComparison(old: oldDocument.schemas, new: document.schemas, isRequest: true)
        let replies = SchemaComparison(old: oldDocument.schemas, new: document.schemas, isRequest: false)
        self.compareParameters(old, new: new, schemas: requests)
        self.compareAddresses(old, new: new, schemas: requests)
        for difference in replies.differences(old.reply, new.reply, at: "the reply") {
            self.note(difference.isBreaking, difference.message)
        }
        self.compare(old.progress, new: new.progress, updates: replies, answers: requests)
        self.compare(old.failures, new: new.failures)
        for name in old.exposure.names where !new.exposure.names.contains(name) {
            self.note(true, "the route is no longer exposed for \(name)")
        }
        for name in new.exposure.names where !old.exposure.names.contains(name) {
            self.note(false, "the route is now exposed for \(name)")
        }
    }

    /// Compares the types of progress replies as replies, and the types of answers as parameters.
    private mutating func compare(
        _ old: BusDocument.Progress?,
        new: BusDocument.Progress?,
        updates: SchemaComparison,
        answers: SchemaComparison
    ) {
        guard let old else {
            if new != nil { self.note(false, "the route declares the types of its progress replies now") }
            return
        }
        guard let new else {
            return self.note(true, "the route no longer declares the types of its progress replies")
        }
        var differences = updates.differences(old.update, new.update, at: "the progress reply")
        switch (old.answer == .null, new.answer == .null) {
        case (true, false): self.note(true, "the progress reply needs an answer now")
        case (false, true): self.note(false, "the progress reply needs no answer any more")
        default:
            differences += answers.differences(old.answer, new.answer, at: "the answer to a progress reply")
        }
        for difference in differences { self.note(difference.isBreaking, difference.message) }
    }

    /// Compares the declared errors, which callers distinguish by their types and codes.
    ///
    /// Like a new value of a reply, a new error breaks callers that know all errors. A route that declares no
    /// errors can throw any error.
    private mutating func compare(_ old: [RouteDescription.Failure], new: [RouteDescription.Failure]) {
        for failure in old {
            let name = "the error `\(failure.name).\(failure.code)`"
            guard let now = new.first(where: { $0.name == failure.name && $0.code == failure.code }) else {
                self.note(new.isEmpty, "\(name) is no longer declared")
                continue
            }
            if now.status != failure.status {
                self.note(true, "\(name) has the HTTP status \(now.status) now, and had \(failure.status)")
            }
        }
        for failure in new where !old.contains(where: { $0.name == failure.name && $0.code == failure.code })
        {
            self.note(!old.isEmpty, "a new error `\(failure.name).\(failure.code)`")
        }
    }

    private mutating func note(_ isBreaking: Bool, _ message: String) {
        let change = DocumentChange(isBreaking: isBreaking, pattern: self.pattern, message: message)
        if !self.changes.contains(change) { self.changes.append(change) }
    }

    private mutating func compareParameters(
        _ old: BusDocument.Route,
        new: BusDocument.Route,
        schemas: SchemaComparison
    ) {
        let values = old.values(with: new)
        for parameter in new.parameters {
            guard let before = old.parameters.first(where: { $0.name == parameter.name }) else {
                let word = parameter.isRequired ? "a new parameter `\(parameter.name)` that is required" : ""
                self.note(parameter.isRequired, word.isEmpty ? "a new parameter `\(parameter.name)`" : word)
                continue
            }
            let place = "the parameter `\(parameter.name)`"
            if parameter.isRequired, !before.isRequired { self.note(true, "\(place) is required now") }
            if !parameter.isRequired, before.isRequired { self.note(false, "\(place) may be missing now") }
            if let value = before.defaultValue, let now = parameter.defaultValue, value != now {
                self.note(false, "\(place) is \(now) if it is missing, and was \(value)")
            }
            // The value is always text in the address, and the message about the address covers the change.
            if parameter.isAnyText, new.isInAllAddresses(parameter), old.isInAllAddresses(parameter),
                values.contains(where: { $0.new.name == parameter.name && $0.new.isAnyText(after: $0.old) })
            {
                continue
            }
            // The message above about the required parameter also covers nil, so the comparison ignores null.
            let isNarrowed = parameter.isRequired && !before.isRequired
            let schema = isNarrowed ? before.schema.withoutNull : before.schema
            for difference in schemas.differences(schema, parameter.schema, at: place) {
                self.note(difference.isBreaking, difference.message)
            }
        }
        for parameter in old.parameters where !new.parameters.contains(where: { $0.name == parameter.name }) {
            self.note(true, "the parameter `\(parameter.name)` is gone")
        }
    }

    /// Compares the values that the addresses of two versions of a route accept.
    private mutating func compareAddresses(
        _ old: BusDocument.Route,
        new: BusDocument.Route,
        schemas: SchemaComparison
    ) {
        if !Set(new.identities).isSubset(of: old.identities) {
            self.note(false, "the pattern matches more URLs now")
        }
        for (before, now) in old.values(with: new) {
            if before.name != now.name, before.isCaptured {
                self.note(true, "`\(before.name)` in the address is called `\(now.name)` now")
            }
            if now.isAnyText(after: before) {
                self.note(false, "`\(before.name)` in the address may be any text now")
                continue
            }
            for difference in schemas.differences(
                before.schema,
                now.schema,
                at: "`\(before.name)` in the address"
            ) {
                self.note(difference.isBreaking, difference.message)
            }
        }
    }
}
