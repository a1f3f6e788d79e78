import WaybillEventLoop

/// The loop whose thread this is.
func currentLoop() -> ObjectIdentifier? { EventLoop.current.map { ObjectIdentifier($0) } }
