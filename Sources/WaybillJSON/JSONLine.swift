/// JSON on one line, for formats in which a line break ends a message.
package enum JSONLine {
    /// Returns JSON whose line breaks are replaced by spaces.
    ///
    /// In JSON, a line break is always white space between two tokens. A value that came from another process
    /// may contain line breaks. If they were written unchanged, the reader would read each line as a message,
    /// and the author of the value could insert messages.
    package static func joined(_ json: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let bytes = json.span
        // The loop does not end early, so that the compiler can compare many bytes at once.
        var breaks: UInt8 = 0
        for index in bytes.indices { breaks |= self.isBreak(bytes[index]) ? 1 : 0 }
        if breaks == 0 { return json }
        return json.map { self.isBreak($0) ? UInt8(ascii: " ") : $0 }[...]
    }

    private static func isBreak(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
}
