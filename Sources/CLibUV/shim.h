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

// Whether libuv has watchers that it hands to the kernel when it polls next. The queue is a pair of pointers
// in every version of libuv 1, and the first leads back to the queue when it is empty.
static inline int waybill_has_new_watchers(const uv_loop_t *loop) {
    const void *queue = &loop->watcher_queue;
    return *(const void *const *)queue != queue;
}

// The calling thread as a number: the register that pthread_self reads, without the call through the linker's
// table.
static inline uintptr_t waybill_thread_id(void) {
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    return (uintptr_t)__builtin_thread_pointer();
#else
    return (uintptr_t)pthread_self();
#endif
}

#if defined(__linux__)
// What libdispatch has for run loops of others, and CoreFoundation's uses on this system: a descriptor that
// is readable while the main queue holds work, and the function that runs it. Both are the main thread's.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *unused);

// Whether the calling thread is the one that the process began with.
static inline int waybill_is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }
#endif

#if defined(__linux__)
// glibc declares it for `_GNU_SOURCE` only, which a header cannot define after others have been read.
extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
#else
// Sets what the system has no flags for; answers -1, with the descriptor closed, if that fails.
static inline int waybill_set_flags(int descriptor) {
    if (descriptor < 0) return -1;
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0 || fcntl(descriptor, F_SETFL, O_NONBLOCK) < 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}
#endif

// A stream socket that does not block and that child processes do not inherit; -1 and `errno` on failure.
static inline int waybill_stream_socket(int family) {
#if defined(__linux__)
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    return waybill_set_flags(socket(family, SOCK_STREAM, 0));
#endif
}

// The next connection of a listening socket, with the same flags, and the address of its peer.
static inline int waybill_accept(int descriptor, struct sockaddr *address, socklen_t *length) {
#if defined(__linux__)
    return accept4(descriptor, address, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
    return waybill_set_flags(accept(descriptor, address, length));
#endif
}

// The user whose process is at the other end of a Unix socket; zero on success.
static inline int waybill_peer_user(int descriptor, unsigned int *user) {
#if defined(__linux__)
    // `struct ucred`, for which the same holds as for `accept4`.
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

// A function of the Swift runtime: retains an object unless its last reference has gone, and then answers
// NULL. The memory must still be there, which an unowned reference takes care of.
extern void *swift_tryRetain(void *object);

// Functions of the Swift runtime: the task that the calling thread runs, or NULL, and what kind of task it
// is. Both take and return one register, which Swift's calling convention passes as C's does.
extern void *swift_task_getCurrent(void);
extern size_t swift_task_getJobFlags(void *task);

// Function of the Swift runtime: queues the job of a task on an executor, of which these are the two words.
// Zeros stand for none in particular: then it is the executor that the task prefers, or else the default one.
extern __attribute__((swiftcall)) void swift_task_enqueue(void *job, void *identity, uintptr_t implementation);

static inline void waybill_enqueue(void *job) { swift_task_enqueue(job, NULL, 0); }

#endif
