internal import Glibc

/// The variables that the shop was started with.
enum Environment {
    static subscript(name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}
