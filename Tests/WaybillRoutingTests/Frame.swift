@testable import WaybillRouting
import Testing
