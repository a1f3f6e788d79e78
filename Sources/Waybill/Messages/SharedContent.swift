internal import WaybillRouting

/// The values and the payload of a message, compared by identity.
///
/// The messages that the subscribers of one publication get have equal contents, so code that encodes them can
/// do so once. Contents that are not equal may have equal values all the same.
package struct SharedContent: Sendable, Equatable {
    private let passed: PassedValues?
    private let extras: MessageExtras?

    package static func == (left: Self, right: Self) -> Bool {
        left.passed === right.passed && left.extras === right.extras
    }

    fileprivate init(_ message: Message) {
        self.passed = message.parameters.passed
        self.extras = message.extras?.payload == nil ? nil : message.extras
    }
}

extension Message {
    /// The values and the payload, to find out whether another message has the same.
    package var sharedContent: SharedContent { SharedContent(self) }
}
