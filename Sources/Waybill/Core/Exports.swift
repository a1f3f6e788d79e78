// A program that imports `Waybill` can use addresses, parameters and errors without another import.
@_exported public import WaybillRouting
