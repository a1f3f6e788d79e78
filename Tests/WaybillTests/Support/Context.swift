/// A task-local value, as tracing would have one.
enum Context {
    @TaskLocal static var name = "none"
}
