internal import CMeasure

/// How many bytes have been allocated and not been freed, where the allocator says so and no sanitizer replaces it.
///
/// Not what the system has given to the process: the allocator keeps some of that when it is free, more for each thread.
func memoryInUse() -> Int? {
    let bytes = memory_in_use()
    return Scale.isSanitized || bytes < 0 ? nil : Int(bytes)
}

/// How long the calling thread has run, however busy the machine is.
func threadTime() -> Duration { .nanoseconds(thread_time()) }
