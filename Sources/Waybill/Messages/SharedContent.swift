internal import WaybillRouting

/// The parameters and the payload of a message, compared by identity.
///
/// The messages that a publication sends to its subscribers share one content, so code that encodes the
/// messages can encode the content once. Two contents that are not equal can still contain equal values.
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
    /// The parameters and the payload, for code that checks whether another message shares them.
    package var sharedContent: SharedContent { SharedContent(self) }
}
