#ifndef WAYBILL_SWIFT_RUNTIME_PRIVATE_H
#define WAYBILL_SWIFT_RUNTIME_PRIVATE_H

// The functions of the Swift runtime that no interface of Swift declares.
// With `-D WAYBILL_PUBLIC_API_ONLY` they are not declared, and Swift code beside each use does without them.

#ifndef WAYBILL_PUBLIC_API_ONLY

#include <stddef.h>
#include <stdint.h>

// Function of the Swift runtime: retains an object and returns it, or returns NULL when its last strong
// reference is gone. The memory must still exist, which an unowned reference guarantees.
extern void *swift_tryRetain(void *object);

// Functions of the Swift runtime: the first returns the task that the calling thread runs, or NULL. The
// second returns the flags of a task, which contain its kind. Both take and return one register, which
// Swift's calling convention passes like C's.
extern void *swift_task_getCurrent(void);
extern size_t swift_task_getJobFlags(void *task);

// Function of the Swift runtime: enqueues the job of a task on an executor, which the other two arguments
// represent. Two zeros mean the preferred executor of the task, or the default executor when it has none.
extern __attribute__((swiftcall)) void swift_task_enqueue(void *job, void *identity, uintptr_t implementation);

static inline void waybill_enqueue(void *job) { swift_task_enqueue(job, NULL, 0); }

#endif

#endif
