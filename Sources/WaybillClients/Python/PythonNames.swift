// The names that generated code in Python must not use.
extension PythonClient {
    /// The keywords of Python, and the names of types that the generated code uses in the same scopes.
    static let keywords: Set<String> = [
        "false", "none", "true", "and", "as", "assert", "async", "await", "break", "case", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if",
        "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return", "try",
        "type", "while", "with", "yield", "bool", "bytes", "datetime", "dict", "float", "int", "list", "str",
    ]

    /// The names of the other classes and type variables in the generated file.
    static let ownTypes: Set<String> = [
        "A", "Array", "AsyncGenerator", "AsyncIterator", "Awaitable", "Call", "Callable", "Decimal",
        "DeclaredError", "DecodingError", "Enum", "Exception", "Generator", "Generic", "JSON", "Literal",
        "Iterable", "Mapping", "None", "Object", "Options", "Self", "ProgressCall", "Publication", "S",
        "Sequence", "SplitResult", "Step", "T", "True", "False", "TypeAlias", "TypeVar", "UUID", "Unknown",
        "V", "ValueError", "WaybillError", "OSError", "ConnectionError", "TimeoutError", "TypeError",
        "ArithmeticError", "BaseException", "RecursionError", "RuntimeError",
    ]

    /// The members of a client.
    ///
    /// A namespace cannot have the same name as one of these members.
    static let ownMembers: Set<String> = ["close", "is_current", "property", "publish", "subscribe", "token"]
}
