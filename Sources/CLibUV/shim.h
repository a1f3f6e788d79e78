#ifndef WAYBILL_CLIBUV_SHIM_H
#define WAYBILL_CLIBUV_SHIM_H

#include <uv.h>

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#if !defined(__linux__)
#include <fcntl.h>
#endif

#if defined(__linux__)
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

// Names the calling thread for debuggers. Linux keeps 15 bytes of the name.
static inline void waybill_name_thread(const char *name) {
#if defined(__linux__)
    prctl(PR_SET_NAME, name, 0, 0, 0);
#elif defined(__APPLE__)
    pthread_setname_np(name);
#endif
}

// Tells the processor that the thread spins, so that the other hardware thread of the core gets the execution
// units.
static inline void waybill_spin_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ __volatile__("yield");
#endif
}

// Yields this core to another thread that is ready to run.
static inline void waybill_yield_core(void) { sched_yield(); }

// Returns whether libuv has watchers that it passes to the kernel when it polls next. In every version of
// libuv 1, the queue is a pair of pointers, and the first one points to the queue when it is empty.
static inline int waybill_has_new_watchers(const uv_loop_t *loop) {
    const void *queue = &loop->watcher_queue;
    return *(const void *const *)queue != queue;
}

// Returns a number that identifies the calling thread. It reads the same register as pthread_self, without
// the call through the linker's table.
static inline uintptr_t waybill_thread_id(void) {
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    return (uintptr_t)__builtin_thread_pointer();
#else
    return (uintptr_t)pthread_self();
#endif
}

#if defined(__linux__)
// The functions that libdispatch provides for foreign run loops, such as the run loop of CoreFoundation on
// this system. The first returns a descriptor that is readable while the main queue has work. The second runs
// that work. Only the main thread may call them.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *unused);

// Returns whether the calling thread is the first thread of the process.
static inline int waybill_is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }
#endif

#if defined(__linux__)
// glibc declares accept4 only for `_GNU_SOURCE`, which this header cannot define after other headers have
// been included.
extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
#else
// Sets the flags that the system cannot set on creation. On failure, returns -1 and closes the descriptor.
static inline int waybill_set_flags(int descriptor) {
    if (descriptor < 0) return -1;
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0 || fcntl(descriptor, F_SETFL, O_NONBLOCK) < 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}
#endif

// Creates a stream socket that does not block and that child processes do not inherit. On failure, returns -1
// and sets `errno`.
static inline int waybill_stream_socket(int family) {
#if defined(__linux__)
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    return waybill_set_flags(socket(family, SOCK_STREAM, 0));
#endif
}

// Accepts the next connection of a listening socket, with the same flags, and stores the address of its peer.
static inline int waybill_accept(int descriptor, struct sockaddr *address, socklen_t *length) {
#if defined(__linux__)
    return accept4(descriptor, address, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
    return waybill_set_flags(accept(descriptor, address, length));
#endif
}

// Stores the user of the process at the other end of a Unix socket. Returns zero on success.
static inline int waybill_peer_user(int descriptor, unsigned int *user) {
#if defined(__linux__)
    // Equal to `struct ucred`, which glibc declares only for `_GNU_SOURCE`.
    struct { int process; unsigned int user, group; } credentials = {0, 0, 0};
    socklen_t length = sizeof credentials;
    int status = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length);
    if (status == 0) *user = credentials.user;
    return status;
#else
    uid_t id;
    gid_t group;
    int status = getpeereid(descriptor, &id, &group);
    if (status == 0) *user = id;
    return status;
#endif
}

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
