#include "CMemory.h"

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
