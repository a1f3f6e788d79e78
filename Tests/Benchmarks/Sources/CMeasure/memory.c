#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "CMeasure.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#if defined(__linux__)
#include <dirent.h>
#include <stdlib.h>
#endif

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

#if defined(__linux__)
static void run_on(const cpu_set_t *cores) {
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) return;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        int thread = atoi(task->d_name);
        if (thread > 0) sched_setaffinity(thread, sizeof *cores, cores);
    }
    closedir(tasks);
}

void measure_stay_on_one_core(bool stays) {
    static cpu_set_t allowed;
    static bool knows = false;
    if (!knows) knows = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    if (!knows) return;
    cpu_set_t cores = allowed;
    for (int core = 0, found = 0; stays && core < CPU_SETSIZE; core += 1) {
        if (!CPU_ISSET(core, &allowed)) continue;
        if (found) CPU_CLR(core, &cores);
        found = 1;
    }
    run_on(&cores);
}
#else
void measure_stay_on_one_core(bool stays) { (void)stays; }
#endif

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
