// A program without libuv, which polls the file descriptor of the bus in its own loop.

#include "host.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>

static void *timeout_elsewhere(void *bus) { return (void *)(intptr_t)waybill_timeout(bus); }

int main(void) {
    host host;
    host_begin(&host, waybill_create());
    // On failure, waybill_timeout must not return -1, which means that the program may wait without a limit.
    void *elsewhere = NULL;
    pthread_t thread;
    if (pthread_create(&thread, NULL, timeout_elsewhere, host.bus) != 0) host.failures++;
    pthread_join(thread, &elsewhere);
    if ((intptr_t)elsewhere != WAYBILL_WRONG_THREAD || waybill_timeout(NULL) != WAYBILL_REFUSED) {
        printf("  FAILED: waybill_timeout returns no status of an error\n");
        host.failures++;
    }
    int turns = 0;
    while (!host.done) {
        struct pollfd descriptor = {waybill_fd(host.bus), POLLIN, 0};
        poll(&descriptor, 1, waybill_timeout(host.bus));
        waybill_dispatch(host.bus);
        turns++;
    }
    // The loop must block while there is nothing to do, so the number of turns stays small.
    if (turns > 1000) host.failures++;
    printf("  %d turns\n", turns);
    return host_end(&host, "poll-host");
}
