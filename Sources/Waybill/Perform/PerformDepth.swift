/// How many performances the calling code is inside of.
enum PerformDepth {
    @TaskLocal static var current = 0
}
