internal import ShopAPI

/// The person at the terminal, asked before anything is paid.
struct Customer: Sendable {
    let keyboard: Keyboard

    /// Asks, and waits for the answer; anything but a yes is a no, Ctrl-C and Ctrl-D among it.
    @MainActor
    func answer(_ request: PaymentRequest) -> PaymentAnswer {
        let editor = LineEditor(history: [], completer: Completer(words: []))
        guard case .text(let answer) = try? self.keyboard.readLine("\(request) [y/N] ", editor: editor) else {
            return .cancel
        }
        return ["y", "yes"].contains(answer.trimmed.lowercased()) ? .confirm : .cancel
    }
}
