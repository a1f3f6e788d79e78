#if Tool
extension Character {
    /// Whether the character is a line feed, or a carriage return and a line feed.
    ///
    /// `isNewline` is also true for characters such as U+2028, at which editors do not begin a new line.
    var isLineBreak: Bool { self == "\n" || self == "\r\n" }
}
#endif
