// A user of the bus writes `import Waybill` and names addresses, parameters and errors without another
// import.
@_exported public import WaybillRouting
