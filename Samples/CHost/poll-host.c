// A program without libuv: it polls what it likes, and the bus beside it.

#include "host.h"

#include <poll.h>
#include <stdio.h>

int main(void) {
    host host;
    host_begin(&host, waybill_create());
    int turns = 0;
    while (!host.done) {
        struct pollfd descriptor = {waybill_fd(host.bus), POLLIN, 0};
        poll(&descriptor, 1, waybill_timeout(host.bus));
        waybill_dispatch(host.bus);
        turns++;
    }
    // Waiting is not spinning: the loop turns when there is something to do.
    if (turns > 1000) host.failures++;
    printf("  %d turns\n", turns);
    return host_end(&host, "poll-host");
}
