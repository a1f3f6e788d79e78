#include "CMeasure.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#if defined(__GLIBC__)
#include <malloc.h>
#include <unistd.h>
#endif

uint64_t measure_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void measure_yield_core(void) { sched_yield(); }

size_t measure_heap_in_use(void) {
#if defined(__GLIBC__)
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

size_t measure_resident(void) {
#if defined(__GLIBC__)
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    unsigned long total = 0, resident = 0;
    int read = fscanf(file, "%lu %lu", &total, &resident);
    fclose(file);
    return read == 2 ? resident * (size_t)sysconf(_SC_PAGESIZE) : 0;
#else
    return 0;
#endif
}
