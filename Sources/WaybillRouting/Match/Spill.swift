/// What a walk cannot keep beside itself: values behind the eighth, choices behind the eighth, places it has seen.
///
/// Few walks need it, and one reference that is nil costs the others next to nothing.
final class Spill {
    var captures: [URLRange] = []
    var choices: [Walk.Choice] = []
    var seen = SeenPlaces()
}
