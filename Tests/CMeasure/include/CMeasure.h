#ifndef WAYBILL_C_MEASURE_H
#define WAYBILL_C_MEASURE_H

#include <stdint.h>

// How many bytes have been allocated and not been freed, in all arenas; -1 where the allocator does not say.
int64_t memory_in_use(void);

// The processor time of the calling thread in nanoseconds; waiting for the processor does not count.
int64_t thread_time(void);

#endif
