internal import WaybillRouting

/// The parameters and the payload of a message, compared by identity.
///
/// The messages that a publication sends to its subscribers have equal contents, so code that encodes them
/// can do so once. Contents that are not equal may still contain equal values.
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
    /// The parameters and the payload, to find out whether another message shares them.
    package var sharedContent: SharedContent { SharedContent(self) }
}
