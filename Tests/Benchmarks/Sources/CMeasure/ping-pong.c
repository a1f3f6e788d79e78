#include "CMeasure.h"

#include <uv.h>

// A loop on a thread, which wakes the other player when it is woken.
struct player {
    uv_loop_t loop;
    uv_async_t woken;
    struct player *other;
    int answers;
    uint64_t left;
    uint64_t ended;
};

// The second player answers each wake-up. The first player wakes the second again until it has counted
// enough.
static void on_woken(uv_async_t *handle) {
    struct player *self = handle->data;
    self->left -= 1;
    if (self->answers || self->left > 0) uv_async_send(&self->other->woken);
    if (self->left > 0) return;
    self->ended = measure_now();
    uv_close((uv_handle_t *)handle, NULL);
}

static void play(void *argument) {
    struct player *self = argument;
    uv_run(&self->loop, UV_RUN_DEFAULT);
}

static void prepare(struct player *self, struct player *other, int answers, uint64_t count) {
    uv_loop_init(&self->loop);
    uv_async_init(&self->loop, &self->woken, on_woken);
    self->woken.data = self;
    self->other = other;
    self->answers = answers;
    self->left = count;
    self->ended = 0;
}

uint64_t measure_uv_ping_pong(uint64_t round_trips) {
    struct player first, second;
    prepare(&first, &second, 0, round_trips);
    prepare(&second, &first, 1, round_trips);

    uv_thread_t first_thread, second_thread;
    uv_thread_create(&first_thread, play, &first);
    uv_thread_create(&second_thread, play, &second);
    uint64_t started = measure_now();
    uv_async_send(&second.woken);
    uv_thread_join(&second_thread);
    uv_thread_join(&first_thread);
    uv_loop_close(&second.loop);
    uv_loop_close(&first.loop);
    return first.ended - started;
}
