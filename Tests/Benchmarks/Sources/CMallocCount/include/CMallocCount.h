#ifndef WAYBILL_BENCHMARKS_CMALLOCCOUNT_H
#define WAYBILL_BENCHMARKS_CMALLOCCOUNT_H

#include <stdint.h>

// Returns the number of allocations of the process so far, or always 0 if malloc cannot be replaced.
uint64_t malloc_count(void);

#endif
