#ifndef WAYBILL_CNATS_SHIM_H
#define WAYBILL_CNATS_SHIM_H

#include <nats/nats.h>

#endif
