internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// What is wrong with the services that are there, and with those that somebody needs.
    func problemsWithServices(_ needed: [any Any.Type]) -> [RoutingError] {
        let (problems, urls) = self.services.withLock { register in
            var problems = register.problemsWithAdapters()
            for service in needed {
                // What an adapter of it needs is told with the adapters.
                guard let problem = register.problem(with: ServiceKey(service)),
                    !problems.contains(where: { $0.message == problem.message }),
                    problem.code != .infiniteRecursion || problems.isEmpty
                else { continue }
                problems.append(problem)
            }
            return (problems, register.offers.flatMap(\.urls))
        }
        return problems + urls.flatMap { self.problems(with: $0) }
    }
}
