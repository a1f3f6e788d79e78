// The calls that both programs make. The calls do not depend on the loop that drives the bus.

#ifndef HOST_H
#define HOST_H

#include <waybill.h>

// The state of a program and its results. The close callback of the bus increments `done`.
typedef struct {
    waybill_bus *bus;
    waybill_message *kept;
    uint64_t slow;
    int pending;
    int heard;
    int failures;
    int done;
} host;

// Registers handlers and starts every call. The bus is closed when the last call ends.
void host_begin(host *host, waybill_bus *bus);

// Prints whether all checks have succeeded, and returns the exit status of the program.
int host_end(const host *host, const char *name);

#endif
