#ifndef WAYBILL_BENCHMARKS_PEER_H
#define WAYBILL_BENCHMARKS_PEER_H

#include <stddef.h>
#include <sys/types.h>

// Starts a program that is found by its name, which is the first of the arguments; its process, or -1. NULL is the last.
pid_t start_peer(const char *const arguments[]);

// Ends a program that was started, and waits until it has.
void stop_peer(pid_t peer);

// A function of a library that is loaded when it is needed, and the place for its address.
struct function {
    void **place;
    const char *name;
};

// Stores the addresses of functions of a library; 0, or -1 if the library lacks one of them.
int find_functions(void *library, const struct function functions[], size_t count);

#endif
