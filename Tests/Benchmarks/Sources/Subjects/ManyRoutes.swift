/// As many routes as wanted, each with a placeholder, in a tree as real ones form it.
public enum ManyRoutes {
    /// A pattern, by its number.
    public static func pattern(_ index: Int) -> String {
        "app://tenant\(index / 1000)/service\(index % 1000)/items/:id"
    }

    /// A URL for a pattern, by its number.
    public static func url(_ index: Int) -> String {
        "app://tenant\(index / 1000)/service\(index % 1000)/items/42"
    }
}
