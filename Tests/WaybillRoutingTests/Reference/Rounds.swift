import Foundation

/// How many random cases a test tries: few by default, as many as a variable says in a long round.
enum Rounds {
    static func count(_ variable: String, default rounds: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? rounds
    }
}
