// What both hosts do with a bus: the same calls, whichever loop drives it.

#ifndef HOST_H
#define HOST_H

#include <waybill.h>

// What a host has seen; `done` is set when the bus has closed.
typedef struct {
    waybill_bus *bus;
    waybill_message *kept;
    uint64_t slow;
    int pending;
    int heard;
    int failures;
    int done;
} host;

// Registers callbacks, and begins every call; the last of them to end closes the bus.
void host_begin(host *host, waybill_bus *bus);

// Says how it went: the program's exit code.
int host_end(const host *host, const char *name);

#endif
