internal import Logging
internal import WaybillEventLoop
internal import WaybillRouting

// How a message ends: it is shown to the observers of dead letters, counted, and its return leg is told.
// Every message ends here, but for one that is called in place and replies (``LoopShard/deliver(_:_:_:)``,
// ``Handler/settle(_:in:)``): of these there is nothing but the count.
extension BusCore {
    /// Ends a message that no caller awaits and that failed.
    @inline(never)
    func deadLetter(
        _ message: Message,
        _ error: RoutingError,
        at handler: Handler? = nil,
        isPublished: Bool = false
    ) {
        let error = error.at(handler)
        // Its handler may have failed with that very code.
        let isMatched = handler.map { $0.failure == nil } ?? false
        self.show(
            message.id,
            message.parameters.url,
            error,
            isAwaited: false,
            at: handler,
            isPublished: isPublished,
            message
        )
        self.report(message.parameters.url, isMatched ? nil : message, error)
        self.close(.deadLettered)
        message.extras?.isReturnOf?.end(.failed(error))
    }

    /// Ends a message that no caller awaits and that reached no handler.
    @inline(never)
    func deadLetter(
        _ request: Request,
        _ id: CorrelationID,
        _ error: RoutingError,
        isPublished: Bool = false
    ) {
        if self.deadLetters.isWatched {
            // It may have a handler, whose mailbox is full.
            let found = error.code == .noRoute ? nil : try? self.find(request, on: self.currentShard)
            let message = found.map { request.message(id: id, parameters: $0.parameters) }
            self.show(
                id,
                request.url,
                error,
                isAwaited: false,
                at: found?.handler,
                isPublished: isPublished,
                message ?? self.unmatched(request, id: id)
            )
        }
        self.report(request.url, error.code == .noRoute ? self.unmatched(request, id: id) : nil, error)
        self.close(.deadLettered)
        request.extras?.isReturnOf?.end(.failed(error))
    }

    /// Shows a message that reached no handler to the observers; called before the message is counted.
    func show(
        _ id: CorrelationID,
        _ url: String,
        _ error: RoutingError,
        isAwaited: Bool,
        at handler: Handler? = nil,
        isPublished: Bool = false,
        _ message: @autoclosure () -> Message?
    ) {
        guard self.deadLetters.isWatched, !isAwaited || Outcome.Kind(error.code) == .deadLettered else {
            return
        }
        self.deadLetters.show(
            DeadLetter(
                id: id,
                url: url,
                message: message(),
                error: error,
                pattern: handler?.pattern ?? error.route,
                isAwaited: isAwaited,
                isPublication: isPublished || handler?.isSubscriber == true,
                time: .now
            )
        )
    }

    /// Ends a message whose caller gets its error, and shows it to the observers if it is a dead letter.
    func close(
        _ outcome: Outcome,
        _ id: CorrelationID,
        _ url: String,
        at handler: Handler? = nil,
        _ message: @autoclosure () -> Message?
    ) {
        // Asked first, since the pattern copies what it is matched against.
        if !outcome.isReply, case .failed(let error) = outcome {
            self.show(id, url, error, isAwaited: true, at: handler, message())
        }
        self.close(outcome.kind)
    }

    /// The same for a message that has reached a handler, whose route counts it as well.
    ///
    /// `hasBegun` says that the route counts it as in flight.
    func end(
        _ outcome: Outcome,
        _ id: CorrelationID,
        _ url: String,
        at handler: Handler,
        hasBegun: Bool,
        _ message: @autoclosure () -> Message?
    ) {
        handler.counters.end(outcome.kind, hasBegun: hasBegun)
        self.close(outcome, id, url, at: handler, message())
    }

    /// Ends a message that no caller awaits and that has reached a handler.
    ///
    /// `hasBegun` says that the route counts it as in flight.
    @inline(never)
    func endUnawaited(_ message: Message, _ outcome: Outcome, at handler: Handler?, hasBegun: Bool = false) {
        handler?.counters.end(outcome.kindUnawaited, hasBegun: hasBegun)
        switch outcome {
        case .replied:
            self.close(.replied)
            message.extras?.isReturnOf?.end(.delivered)
        case .failed(let error): self.deadLetter(message, error, at: handler)
        }
    }

    private func report(_ url: String, _ message: Message?, _ error: RoutingError) {
        if error.code == .noRoute, let message, self.tellUncaught(message) { return }
        self.log(url, error)
    }
}
