#define _GNU_SOURCE
#include "CSimulation.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define SWIFT_CALL __attribute__((swiftcall))

// The simulation of a thread; `receiver` is NULL on a thread that is not in a simulation.
static _Thread_local struct {
    waybill_job_receiver receiver;
    void *context;
    int64_t time;
    uint64_t random;
} simulation;

// The jobs of the Swift runtime.

typedef SWIFT_CALL void (*enqueue_original)(void *job);
typedef SWIFT_CALL void (*enqueue_hook)(void *job, enqueue_original original);

// A variable of the Swift runtime. Unless it is NULL, the runtime passes every job for the default executor
// to it, with the runtime's own function for such jobs.
extern enqueue_hook swift_task_enqueueGlobal_hook;

SWIFT_CALL static void receive(void *job, enqueue_original original) {
    if (simulation.receiver == NULL) {
        original(job);
    } else {
        simulation.receiver(simulation.context, job);
    }
}

void waybill_enter_simulation(waybill_job_receiver receiver, void *context, uint64_t seed, int64_t time) {
    // Every thread writes the same address, which stays for the rest of the process.
    __atomic_store_n(&swift_task_enqueueGlobal_hook, receive, __ATOMIC_RELEASE);
    simulation.receiver = receiver;
    simulation.context = context;
    simulation.random = seed;
    simulation.time = time;
}

void waybill_leave_simulation(void) { simulation.receiver = NULL; }

void waybill_set_time(int64_t time) { simulation.time = time; }

// A job is two words of the object header, two words for the scheduler, flags, an identifier, and then the
// address of the function.
enum { flags_offset = 32, identifier_offset = 36, function_offset = 40 };

static int is_task(const void *job) {
    uint32_t flags = *(const uint32_t *)((const char *)job + flags_offset);
    // The lowest byte of the flags is the kind; a task has the kind 0.
    return (flags & 0xff) == 0;
}

void *waybill_job_function(void *job) {
    return is_task(job) ? *(void **)((char *)job + function_offset) : NULL;
}

uint32_t waybill_task_number(void *job) {
    return is_task(job) ? *(const uint32_t *)((const char *)job + identifier_offset) : 0;
}

const char *waybill_symbol_name(const void *function) {
    Dl_info info;
    if (function == NULL || dladdr(function, &info) == 0) return NULL;
    return info.dli_sname;
}

#if defined(__linux__)
#include <sys/syscall.h>

// Marks a function that replaces a function of the C library, and the functions that it calls.
//
// A thread may call these functions while it ends, after ThreadSanitizer has released the thread's state.
// Code that ThreadSanitizer has changed would read that state and stop the process.
#define REPLACEMENT __attribute__((disable_sanitizer_instrumentation))

// Returns the function of the C library that a function in this file replaces.
//
// cache: Keeps the result. Threads that call this function at the same time write the same value.
REPLACEMENT static void *original_function(void **cache, const char *name) {
    void *original = __atomic_load_n(cache, __ATOMIC_RELAXED);
    if (original == NULL) {
        original = dlsym(RTLD_NEXT, name);
        __atomic_store_n(cache, original, __ATOMIC_RELAXED);
    }
    return original;
}

// A run begins at the simulated time of 1,000 seconds, when the wall clock is at 2026-01-01 00:00:00 UTC.
static const int64_t wall_clock_base = 1767225600 - 1000;
static const int64_t second = 1000000000;

REPLACEMENT int clock_gettime(clockid_t clock, struct timespec *result) {
    if (simulation.receiver != NULL) {
        int is_wall_clock = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
        result->tv_sec = simulation.time / second + (is_wall_clock ? wall_clock_base : 0);
        result->tv_nsec = simulation.time % second;
        return 0;
    }
    static void *cache;
    int (*original)(clockid_t, struct timespec *) = original_function(&cache, "clock_gettime");
    return original(clock, result);
}

REPLACEMENT int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    struct timespec now;
    int status = clock_gettime(CLOCK_REALTIME, &now);
    result->tv_sec = now.tv_sec;
    result->tv_usec = now.tv_nsec / 1000;
    // The system fills the obsolete time zone with zeros as well.
    if (zone != NULL) memset(zone, 0, sizeof(struct timezone));
    return status;
}

REPLACEMENT time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != NULL) *result = now.tv_sec;
    return now.tv_sec;
}

// Fills memory with random numbers (SplitMix64).
REPLACEMENT static void fill_with_random_numbers(unsigned char *bytes, size_t count) {
    for (size_t index = 0; index < count; index++) {
        uint64_t word = simulation.random += 0x9e3779b97f4a7c15;
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
        word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
        bytes[index] = (unsigned char)(word >> 24);
    }
}

// Swift's `SystemRandomNumberGenerator` asks the kernel for random numbers through this function.
REPLACEMENT long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long arguments[6];
    for (int index = 0; index < 6; index++) arguments[index] = va_arg(list, long);
    va_end(list);
    if (number == SYS_getrandom && simulation.receiver != NULL) {
        fill_with_random_numbers((unsigned char *)arguments[0], (size_t)arguments[1]);
        return arguments[1];
    }
    static void *cache;
    long (*original)(long, ...) = original_function(&cache, "syscall");
    return original(
        number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]
    );
}
#endif
