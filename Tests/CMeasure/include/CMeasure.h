#ifndef WAYBILL_C_MEASURE_H
#define WAYBILL_C_MEASURE_H

#include <stdint.h>

// Returns the number of bytes that are allocated in all arenas, or -1 if the allocator does not count them.
int64_t memory_in_use(void);

// Returns the processor time of the calling thread in nanoseconds, without the time that the thread waits.
int64_t thread_time(void);

#endif
