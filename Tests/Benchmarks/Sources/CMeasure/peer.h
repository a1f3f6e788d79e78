#ifndef WAYBILL_BENCHMARKS_PEER_H
#define WAYBILL_BENCHMARKS_PEER_H

#include <sys/types.h>

// Starts a program that is found by its name, which is the first of the arguments; its process, or -1. NULL is the last.
pid_t start_peer(const char *const arguments[]);

// Ends a program that was started, and waits until it has.
void stop_peer(pid_t peer);

#endif
