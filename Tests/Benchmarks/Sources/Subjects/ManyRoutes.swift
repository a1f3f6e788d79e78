/// Any number of routes, each with a placeholder, which form a tree like the routes of a real program.
public enum ManyRoutes {
    /// Returns the pattern with a number.
    public static func pattern(_ index: Int) -> String {
        "app://tenant\(index / 1000)/service\(index % 1000)/items/:id"
    }

    /// Returns a URL for the pattern with a number.
    public static func url(_ index: Int) -> String {
        "app://tenant\(index / 1000)/service\(index % 1000)/items/42"
    }
}
