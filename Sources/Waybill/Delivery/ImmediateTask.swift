/// The task of a handler.
///
/// It may throw, though none does: the runtime runs a task that may throw and one that may not by the same
/// function, so the closure of the latter is wrapped in another one, which takes an allocation and a tenth of
/// what a handler takes that may suspend.
@usableFromInline
typealias HandlerTask = Task<Void, any Error>

/// Once: how often a loop starts a handler's task, with `Task.immediate`, for the compiler to inline that.
///
/// Called as a function, `Task.immediate` (in Swift 6.3) tells the runtime of a preferred executor even if
/// there is none, and the runtime asks for it under a lock at each change of isolation: a seventh of what a
/// handler takes that may suspend. Into a loop the compiler does inline it, and then it passes on nothing.
/// This function is not inlined, since the compiler would see that there is no loop.
@usableFromInline
@inline(never)
func once() -> Int { 1 }
