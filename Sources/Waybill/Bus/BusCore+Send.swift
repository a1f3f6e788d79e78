internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Leaves a message in the mailbox of its handler; whatever stands in the way makes it a dead letter.
    func send(_ request: consuming Request) {
        let lane = self.currentLane
        let inherited = lane.map { $0.inherited } ?? DeliveryContext.current
        if let inherited { request.inherit(from: inherited) }
        let id = self.open()
        var message: Message?
        do throws(RoutingError) {
            if let error = self.objection(to: request) { throw error }
            let found = try self.find(request.url, on: lane)
            let posted = request.message(id: id, parameters: found.parameters)
            message = posted
            try found.handler.mailbox.post(Parcel(message: posted, handler: found.handler))
        } catch {
            self.deadLetter(
                url: request.url,
                message: message ?? self.unmatched(request, id: id),
                error: error
            )
        }
    }

    func find(_ url: String, on lane: Lane?) throws(RoutingError) -> Found {
        guard let lane else {
            return try self.directory.read { table throws(RoutingError) in try table.find(url) }
        }
        return try lane.find(url)
    }

    /// The message as the uncaught handler sees it: what could be read from the URL, and what the caller gave.
    func unmatched(_ request: Request, id: CorrelationID) -> Message? {
        let address = try? self.address(of: request.url)
        return address.map { request.message(id: id, parameters: Parameters(address: $0)) }
    }

    /// The address in a URL.
    ///
    /// - Throws: `invalidURL`.
    func address(of url: String) throws(RoutingError) -> Address {
        try Address(
            url,
            conventions: self.configuration.conventions,
            defaultScheme: self.configuration.defaultScheme,
            limits: self.configuration.limits
        )
    }
}
