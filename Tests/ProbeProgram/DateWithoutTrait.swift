#if !Foundation
import Foundation

// The generated client writes a date in a path with `Date.urlParameter`, which the trait Foundation adds. Tests start
// this program only with the trait; without it, the program only has to compile.
extension Date {
    var urlParameter: String { self.formatted(.iso8601) }
}
#endif
