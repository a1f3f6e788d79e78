import Testing

@testable import Waybill
