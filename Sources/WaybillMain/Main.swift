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
        // Without the trait `Tool`, which brings the package that reads its arguments, nothing is left of the
        // command line.
        print("waybill: built without the trait Tool")
        #endif
    }
}
