#ifndef WAYBILL_BENCHMARKS_PEER_H
#define WAYBILL_BENCHMARKS_PEER_H

#include <stddef.h>
#include <sys/types.h>

// Starts a program on the PATH. The arguments begin with its name and end with NULL. Returns the process, or -1.
pid_t start_peer(const char *const arguments[]);

// Stops a process that `start_peer` has started, and waits for its end.
void stop_peer(pid_t peer);

// The name of a function in a library that is loaded at run time, and the place for its address.
struct function {
    void **place;
    const char *name;
};

// Stores the addresses of functions of a library. Returns 0, or -1 if the library lacks one of them.
int find_functions(void *library, const struct function functions[], size_t count);

#endif
