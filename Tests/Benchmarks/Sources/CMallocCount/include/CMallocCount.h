#ifndef WAYBILL_BENCHMARKS_CMALLOCCOUNT_H
#define WAYBILL_BENCHMARKS_CMALLOCCOUNT_H

#include <stdint.h>

// How often the process has asked for memory so far; 0 for ever where malloc cannot be replaced.
uint64_t malloc_count(void);

#endif
