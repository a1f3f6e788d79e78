#ifndef WAYBILL_CLIBUV_SHIM_H
#define WAYBILL_CLIBUV_SHIM_H

#include <uv.h>

#include <pthread.h>
#include <sched.h>
#include <stddef.h>

#if defined(__linux__)
#include <sys/eventfd.h>
#include <sys/prctl.h>
#endif

// Names the calling thread for debuggers; Linux keeps 15 bytes.
static inline void waybill_name_thread(const char *name) {
#if defined(__linux__)
    prctl(PR_SET_NAME, name, 0, 0, 0);
#elif defined(__APPLE__)
    pthread_setname_np(name);
#endif
}

// Tells the processor that the thread spins, so that its sibling gets the execution units.
static inline void waybill_spin_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ __volatile__("yield");
#endif
}

// Lets another thread run on this core, if one waits.
static inline void waybill_yield_core(void) { sched_yield(); }

// The calling thread as a number: the register that pthread_self reads, without the call through the linker's
// table.
static inline uintptr_t waybill_thread_id(void) {
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    return (uintptr_t)__builtin_thread_pointer();
#else
    return (uintptr_t)pthread_self();
#endif
}

// A function of the Swift runtime: retains an object unless its last reference has gone, and then answers
// NULL. The memory must still be there, which an unowned reference takes care of.
extern void *swift_tryRetain(void *object);

// Functions of the Swift runtime: the task that the calling thread runs, or NULL, and what kind of task it
// is. Both take and return one register, which Swift's calling convention passes as C's does.
extern void *swift_task_getCurrent(void);
extern size_t swift_task_getJobFlags(void *task);

#endif
