// A program that runs a bus on its own libuv loop.

#include "host.h"

#include <stdio.h>
#include <uv.h>

static int ticks = 0;

static void tick(uv_timer_t *timer) {
    if (++ticks == 3) uv_close((uv_handle_t *)timer, NULL);
}

int main(void) {
    uv_loop_t loop;
    uv_timer_t timer;
    host host;
    uv_loop_init(&loop);
    // The timer checks that the program's own work continues beside the bus.
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, tick, 1, 1);
    host_begin(&host, waybill_adopt(&loop));
    if (waybill_timeout(host.bus) != WAYBILL_REFUSED) {
        printf("  FAILED: waybill_timeout accepts a bus on a loop of libuv\n");
        host.failures++;
    }
    // uv_run returns when neither the program nor the bus has pending work.
    uv_run(&loop, UV_RUN_DEFAULT);
    int status = uv_loop_close(&loop);
    if (ticks != 3 || status != 0) {
        printf("  FAILED %d ticks, uv_loop_close: %d\n", ticks, status);
        host.failures++;
    }
    return host_end(&host, "uv-host");
}
