// A fuzz target for libFuzzer, which .ci/fuzz compiles together with the frame reader and the scanner of JSON.

/// Reads arbitrary bytes as frames, in one piece and in several.
///
/// Both results must have equal frames and errors, and every accepted frame must be readable.
@_cdecl("LLVMFuzzerTestOneInput")
public func readFrames(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    // SAFETY: the fuzzer passes this number of bytes, and keeps them until the function returns.
    let input = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let seed = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    let whole = frames(in: [bytes])
    let size = Int(seed % 7) + 1
    let pieces = stride(from: 0, to: bytes.count, by: size).map { start in
        Array(bytes[start..<min(start + size, bytes.count)])
    }
    let cut = frames(in: pieces)
    precondition(whole.texts == cut.texts && whole.error == cut.error, "pieces are read in another way")
    for text in whole.texts {
        let value = try? JSONText(text).validated(depthLimit: 32)
        let outline = try? JSONOutline(JSONText(text), depthLimit: 32, levels: size - 1)
        precondition((value == nil) == (outline == nil), "an outline judges in another way")
        guard let value, let outline else { continue }
        walk(value, outline.root, depth: 0)
    }
    return 0
}

/// Returns the frames in some pieces of a stream, and the error that ended the stream.
private func frames(in pieces: [[UInt8]]) -> (texts: [[UInt8]], error: FrameError?) {
    var reader = FrameReader(limit: 256)
    var texts: [[UInt8]] = []
    do throws(FrameError) {
        for piece in pieces {
            reader.append(piece)
            while let frame = try reader.next() { texts.append(Array(frame.slice)) }
        }
        return (texts, nil)
    } catch {
        return (texts, error)
    }
}

/// Reads every part of a value, as text and in an outline.
private func walk(_ value: JSONText, _ node: JSONNode, depth: Int) {
    precondition(depth <= 32, "the limit of depth does not hold")
    precondition(
        node.text.slice == value.slice && node.string == value.string,
        "an outline says something else"
    )
    switch value.shape {
    case .null: precondition(value.isNull)
    case .bool: precondition(value.bool != nil)
    case .number: _ = (value.int, value.double)
    case .string: precondition(value.string != nil)
    case .array, .object:
        let members = value.members ?? (value.elements ?? []).map { ("", $0) }
        var nodes: [JSONNode] = []
        node.forEachChild { nodes.append($0) }
        precondition(nodes.count == members.count, "an outline has other values")
        for ((name, member), node) in zip(members, nodes) {
            precondition(value.shape == .array || node.name == name, "an outline has other names")
            walk(member, node, depth: depth + 1)
        }
    }
}
