#include "CMeasure.h"

#include <time.h>

#if defined(__linux__)
#include <features.h>
#endif

#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
#define HAS_MALLINFO2 1
#include <malloc.h>
#endif
#endif

int64_t memory_in_use(void) {
#if defined(HAS_MALLINFO2)
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
#else
    return -1;
#endif
}

int64_t thread_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
