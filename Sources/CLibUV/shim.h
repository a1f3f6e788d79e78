#ifndef WAYBILL_CLIBUV_SHIM_H
#define WAYBILL_CLIBUV_SHIM_H

#include <uv.h>

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
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

// Tells the processor that the thread spins, so that the other hardware thread of the core can use the
// execution units.
static inline void waybill_spin_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ __volatile__("yield");
#endif
}

// Yields this core to another thread that is ready to run.
static inline void waybill_yield_core(void) { sched_yield(); }

// Returns a number that identifies the calling thread. The function reads the same register as pthread_self,
// but does not call through the linker's table.
static inline uintptr_t waybill_thread_id(void) {
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    return (uintptr_t)__builtin_thread_pointer();
#else
    return (uintptr_t)pthread_self();
#endif
}

#if defined(__linux__)
// Returns whether the calling thread is the first thread of the process.
static inline int waybill_is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }
#endif

#if defined(__linux__)
// glibc declares accept4 only for `_GNU_SOURCE`, which this header cannot define after other headers have
// been included.
extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
#else
// Sets the flags that this system cannot set when it creates a socket. On failure, returns -1 and closes the
// descriptor.
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

// Accepts the next connection of a listening socket and stores the address of the peer. The connection's
// socket does not block, and child processes do not inherit it.
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

// Returns the size of the send buffer's content, as the system counts it, or -1 on failure. The size changes
// when the peer reads, but not with each byte.
static inline int waybill_sent_bytes(int descriptor) {
    int count = 0;
#if defined(__linux__)
    return ioctl(descriptor, TIOCOUTQ, &count) == 0 ? count : -1;
#elif defined(SO_NWRITE)
    socklen_t length = sizeof count;
    return getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &length) == 0 ? count : -1;
#else
    return -1;
#endif
}

#endif
