#ifndef WAYBILL_LIBUV_PRIVATE_H
#define WAYBILL_LIBUV_PRIVATE_H

// The fields of libuv that its documentation does not mention. With `-D WAYBILL_PUBLIC_API_ONLY` the function
// below is not declared. Swift code beside each use then has an alternative.

#ifndef WAYBILL_PUBLIC_API_ONLY

#include <uv.h>

// Returns whether libuv has watchers that it will pass to the kernel at the next poll. In every version of
// libuv 1, `watcher_queue` is a pair of pointers. When the queue is empty, the first pointer points to the
// queue itself.
static inline int waybill_has_new_watchers(const uv_loop_t *loop) {
    const void *queue = &loop->watcher_queue;
    return *(const void *const *)queue != queue;
}

#endif

#endif
