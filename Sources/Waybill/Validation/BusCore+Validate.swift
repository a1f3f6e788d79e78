internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// The routes whose messages nobody handles.
    func routesWithoutHandler() -> [RoutingError] {
        let problems = try? self.directory.read { table throws(RoutingError) in
            table.routes.compactMap { route -> RoutingError? in
                guard let handler = table.handler(for: route.id) else { return nil }
                let pattern = route.pattern.text
                if case .unbound(let entry) = handler.description {
                    let error = RoutingError.unbound(entry)
                    return RoutingError(error.code, url: pattern, message: error.message)
                }
                let hasStopped = handler.members.allSatisfy { $0.mailbox.eventLoop.isShutDown || $0.isGone }
                return hasStopped
                    ? RoutingError(
                        .noHandler,
                        url: pattern,
                        message: RoutingError.loopShutDown(url: "").message
                    )
                    : nil
            }
        }
        return problems ?? []
    }

    /// The patterns that others hide.
    func unreachablePatterns() -> [RoutingError] {
        let problems = try? self.directory.read { table throws(RoutingError) in
            table.shadowed().map { route, rival, url in
                RoutingError(
                    .conflict,
                    url: route.pattern.text,
                    message:
                        "no URL reaches it: \(url), for example, leads to `\(rival.pattern)` (\(rival.fileID):\(rival.line))"
                )
            }
        }
        return problems ?? []
    }

    /// What is wrong with a URL that is going to be routed, and with its return URLs.
    func problems(with url: String) -> [RoutingError] {
        var problems: [RoutingError] = []
        var next: String? = url
        var hops = 0
        while let url = next, hops <= self.configuration.hopLimit {
            next = nil
            hops += 1
            do throws(RoutingError) {
                _ = try self.directory.find(url, nil, on: nil)
            } catch {
                problems.append(error)
            }
            if let address = try? self.address(of: url), let fragment = address.fragment, !fragment.isEmpty {
                next = self.returnURL(in: fragment, scheme: address.scheme)
            }
        }
        return problems
    }
}
