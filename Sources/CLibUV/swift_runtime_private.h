#ifndef WAYBILL_SWIFT_RUNTIME_PRIVATE_H
#define WAYBILL_SWIFT_RUNTIME_PRIVATE_H

// The functions of the Swift runtime that no interface of Swift declares. With `-D WAYBILL_PUBLIC_API_ONLY`
// these functions are not declared. Swift code beside each use then has an alternative.

#ifndef WAYBILL_PUBLIC_API_ONLY

#include <stddef.h>
#include <stdint.h>

// Retains an object and returns it, or returns NULL when the last strong reference to the object has been
// dropped. The memory of the object must still exist, which an unowned reference guarantees.
extern void *swift_tryRetain(void *object);

// The first function returns the task that the calling thread runs, or NULL. The second function returns the
// flags of a task, which contain the kind of the task. Each function has at most one argument and one result,
// each in one register. Swift's calling convention passes these registers in the same way as C's.
extern void *swift_task_getCurrent(void);
extern size_t swift_task_getJobFlags(void *task);

// Enqueues the job of a task on an executor. The arguments `identity` and `implementation` represent the
// executor. Two zeros represent the preferred executor of the task, or the default executor if the task has
// no preferred executor.
extern __attribute__((swiftcall)) void swift_task_enqueue(void *job, void *identity, uintptr_t implementation);

static inline void waybill_enqueue(void *job) { swift_task_enqueue(job, NULL, 0); }

#endif

#endif
