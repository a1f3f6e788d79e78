#ifndef WAYBILL_BENCHMARKS_CMEASURE_H
#define WAYBILL_BENCHMARKS_CMEASURE_H

#include <stddef.h>
#include <stdint.h>

// Nanoseconds of the monotonic clock.
uint64_t measure_now(void);

// Bytes that the program holds on the heap; 0 where the C library does not tell.
size_t measure_heap_in_use(void);

// Bytes of memory that the process has resident; 0 where the system does not tell.
size_t measure_resident(void);

// Lets another thread have the core.
void measure_yield_core(void);

// Lets two libuv loops on two threads wake each other with `uv_async_send`; how long the round trips took together.
uint64_t measure_uv_ping_pong(uint64_t round_trips);

#endif
