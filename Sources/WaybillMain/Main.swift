#if Tool
internal import ArgumentParser
internal import WaybillTool
#endif

@main
enum Main {
    static func main() async {
        #if Tool
        await WaybillCommand.main()
        #else
        // The trait `Tool` brings the package that parses arguments. Without this trait, the program has no
        // commands.
        print("waybill: built without the trait Tool")
        #endif
    }
}
