#ifndef WAYBILL_LIBUV_PRIVATE_H
#define WAYBILL_LIBUV_PRIVATE_H

// The fields of libuv that its documentation does not mention.
// With `-D WAYBILL_PUBLIC_API_ONLY` they are not declared, and Swift code beside each use does without them.

#ifndef WAYBILL_PUBLIC_API_ONLY

#include <uv.h>

// Returns whether libuv has watchers that it passes to the kernel when it polls next. In every version of
// libuv 1, the queue is a pair of pointers, and the first one points to the queue when it is empty.
static inline int waybill_has_new_watchers(const uv_loop_t *loop) {
    const void *queue = &loop->watcher_queue;
    return *(const void *const *)queue != queue;
}

#endif

#endif
