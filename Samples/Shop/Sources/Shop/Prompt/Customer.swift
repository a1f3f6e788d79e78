internal import ShopAPI

/// The person at the terminal, who confirms each payment.
struct Customer: Sendable {
    let keyboard: Keyboard

    /// Asks for confirmation, and waits for the answer.
    ///
    /// Anything but a yes is a rejection, including Ctrl-C and Ctrl-D.
    @MainActor
    func answer(_ request: PaymentRequest) -> PaymentAnswer {
        let editor = LineEditor(history: [], completer: Completer(words: []))
        guard case .text(let answer) = try? self.keyboard.readLine("\(request) [y/N] ", editor: editor) else {
            return .cancel
        }
        return ["y", "yes"].contains(answer.trimmed.lowercased()) ? .confirm : .cancel
    }
}
