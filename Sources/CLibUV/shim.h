#ifndef WAYBILL_CLIBUV_SHIM_H
#define WAYBILL_CLIBUV_SHIM_H

#include <uv.h>

#endif
