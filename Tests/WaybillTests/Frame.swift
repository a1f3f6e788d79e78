@testable import Waybill
import Testing
