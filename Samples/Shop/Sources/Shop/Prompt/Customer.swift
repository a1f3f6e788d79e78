internal import ShopAPI

/// The person at the terminal, who is asked before anything is paid.
actor Customer {
    private var input = FileInput(0, chunk: 4 * 1_024)
    private var output = FileOutput(1)

    /// Asks, and waits for the answer; anything but a yes is a no.
    func answer(_ request: PaymentRequest) -> PaymentAnswer {
        self.output.bytes.append(contentsOf: "\(request) [y/N] ".utf8)
        try? self.output.flush()
        let answer = (try? self.input.read()).flatMap { String(validating: $0, as: UTF8.self) } ?? ""
        return answer.lowercased().hasPrefix("y") ? .confirm : .cancel
    }
}
