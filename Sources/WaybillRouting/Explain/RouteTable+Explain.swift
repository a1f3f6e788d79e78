extension RouteTable {
    /// Why a URL leads where it does, or nowhere; nothing is run.
    public func explain(_ url: String) -> Explanation { self.box.explain(url) }

    /// The error of an address that no pattern matches; it names the nearest routes.
    public func noRoute(for address: Address) -> RoutingError {
        self.core.noRoute(address, Suggestions(self.core, address))
    }

    /// The error of a URL that no pattern matches, or of one that is no URL at all.
    public func noRoute(for url: String) -> RoutingError {
        do {
            return self.noRoute(for: try Address(url, self.core.rules))
        } catch {
            return error
        }
    }
}

extension TableCore {
    func noRoute(_ address: Address, _ suggestions: Suggestions) -> RoutingError {
        var message = "no pattern matches"
        if let failure = suggestions.failure {
            message = "\(failure.message), which \(failure.pattern) needs"
        } else if !suggestions.nearest.isEmpty {
            message += "; did you mean \(suggestions.nearest.joined(separator: " or "))?"
        }
        return RoutingError(.noRoute, url: address.text, message: message)
    }
}

extension TableBox {
    func explain(_ url: String) -> Explanation {
        var scan = LargeScan()
        do {
            let address = try scan.address(url, self.core.rules)
            let match = try self.match(url)
            let count = scan.count
            var tracer = Tracer(self, address, scan)
            tracer.trace(address.scheme)
            if let match {
                return Explanation(
                    url: url,
                    route: self.core.route(match.route),
                    parameters: match.parameters,
                    error: nil,
                    stoppedAt: nil,
                    failure: nil,
                    nearest: [],
                    trace: tracer.lines
                )
            }
            let suggestions = Suggestions(self.core, address)
            return Explanation(
                url: url,
                route: nil,
                parameters: Parameters(address: address),
                error: self.core.noRoute(address, suggestions),
                stoppedAt: tracer.depth < count ? tracer.depth : nil,
                failure: suggestions.failure,
                nearest: suggestions.nearest,
                trace: tracer.lines
            )
        } catch {
            return Explanation(
                url: url,
                route: nil,
                parameters: nil,
                error: error,
                stoppedAt: nil,
                failure: nil,
                nearest: [],
                trace: [error.message]
            )
        }
    }
}
