#if Tool
internal import ArgumentParser
internal import WaybillTool
#else
internal import Foundation
#endif

@main
enum Main {
    static func main() async {
        #if Tool
        await WaybillCommand.main()
        #else
        // The trait `Tool` brings the package that parses arguments. Without this trait, the program has no
        // commands.
        let text = "waybill: there are no commands without the trait Tool: build with `--traits Tool`\n"
        FileHandle.standardError.write(Data(text.utf8))
        exit(1)
        #endif
    }
}
