/// A pressed key.
enum Key: Equatable {
    case character(Character)
    case enter
    case tab
    case escape
    case backspace
    case delete
    case left
    case right
    case up
    case down
    case home
    case end
    case wordLeft
    case wordRight
    /// A letter together with Ctrl, in lower case.
    case control(Character)
}
