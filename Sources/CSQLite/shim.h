#ifndef WAYBILL_CSQLITE_SHIM_H
#define WAYBILL_CSQLITE_SHIM_H

#include <sqlite3.h>

#endif
