@testable import WaybillEventLoop
import Testing
