internal import WaybillRouting

/// A message that nobody awaits, and the handler that it is for.
///
/// It cannot be copied: from its sender it moves through the mailbox to the loop, and no reference in it is counted on
/// the way.
struct Parcel: ~Copyable, Sendable {
    let message: Message
    let handler: Handler
}
