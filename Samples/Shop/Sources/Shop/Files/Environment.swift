internal import Glibc

/// The environment variables of the shop.
enum Environment {
    static subscript(name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}
