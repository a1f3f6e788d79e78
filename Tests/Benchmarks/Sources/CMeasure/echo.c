#include "CMeasure.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

// The peer: the echo server of libuv's guide, with its own loop and thread.

struct write {
    uv_write_t request;
    uv_buf_t buffer;
};

static void on_closed(uv_handle_t *handle) { free(handle); }

static void on_written(uv_write_t *request, int status) {
    struct write *write = (struct write *)request;
    free(write->buffer.base);
    free(write);
    (void)status;
}

static void on_buffer(uv_handle_t *handle, size_t size, uv_buf_t *buffer) {
    *buffer = uv_buf_init(malloc(size), (unsigned int)size);
    (void)handle;
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    if (count <= 0) {
        free(buffer->base);
        if (count < 0) uv_close((uv_handle_t *)stream, on_closed);
        return;
    }
    struct write *write = malloc(sizeof *write);
    write->buffer = uv_buf_init(buffer->base, (unsigned int)count);
    uv_write(&write->request, stream, &write->buffer, 1, on_written);
}

static void on_connection(uv_stream_t *listener, int status) {
    if (status < 0) return;
    uv_tcp_t *connection = malloc(sizeof *connection);
    uv_tcp_init(listener->loop, connection);
    if (uv_accept(listener, (uv_stream_t *)connection) != 0) {
        uv_close((uv_handle_t *)connection, on_closed);
        return;
    }
    uv_tcp_nodelay(connection, 1);
    uv_read_start((uv_stream_t *)connection, on_buffer, on_read);
}

static void on_unix_connection(uv_stream_t *listener, int status) {
    if (status < 0) return;
    uv_pipe_t *connection = malloc(sizeof *connection);
    uv_pipe_init(listener->loop, connection, 0);
    if (uv_accept(listener, (uv_stream_t *)connection) != 0) {
        uv_close((uv_handle_t *)connection, on_closed);
        return;
    }
    uv_read_start((uv_stream_t *)connection, on_buffer, on_read);
}

static void serve(void *loop) { uv_run(loop, UV_RUN_DEFAULT); }

int measure_uv_echo_server(void) {
    // The loop and the listener exist until the program ends.
    uv_loop_t *loop = malloc(sizeof *loop);
    uv_tcp_t *listener = malloc(sizeof *listener);
    struct sockaddr_in address;
    int length = sizeof address;
    uv_thread_t thread;
    uv_loop_init(loop);
    uv_tcp_init(loop, listener);
    uv_ip4_addr("127.0.0.1", 0, &address);
    if (uv_tcp_bind(listener, (struct sockaddr *)&address, 0) != 0) return -1;
    if (uv_listen((uv_stream_t *)listener, 128, on_connection) != 0) return -1;
    uv_tcp_getsockname(listener, (struct sockaddr *)&address, &length);
    if (uv_thread_create(&thread, serve, loop) != 0) return -1;
    return ntohs(address.sin_port);
}

int measure_uv_unix_echo_server(const char *path) {
    uv_loop_t *loop = malloc(sizeof *loop);
    uv_pipe_t *listener = malloc(sizeof *listener);
    uv_thread_t thread;
    uv_loop_init(loop);
    uv_pipe_init(loop, listener, 0);
    if (uv_pipe_bind(listener, path) != 0) return -1;
    if (uv_listen((uv_stream_t *)listener, 128, on_unix_connection) != 0) return -1;
    return uv_thread_create(&thread, serve, loop) == 0 ? 0 : -1;
}

// The client of both servers.

int measure_echo_connect(int port) {
    struct sockaddr_in address;
    int on = 1;
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    uv_ip4_addr("127.0.0.1", port, &address);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) return -1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return descriptor;
}

uint64_t measure_echo_ping_pong(int descriptor, uint64_t round_trips) {
    char bytes[64] = {0};
    uint64_t started = measure_now();
    for (uint64_t i = 0; i < round_trips; i += 1) {
        if (send(descriptor, bytes, sizeof bytes, 0) != sizeof bytes) return 0;
        for (size_t received = 0; received < sizeof bytes;) {
            ssize_t count = recv(descriptor, bytes, sizeof bytes, 0);
            if (count <= 0) return 0;
            received += (size_t)count;
        }
    }
    return measure_now() - started;
}

uint64_t measure_echo_stream(int descriptor, uint64_t blocks) {
    enum { block = 64 * 1024 };
    static char out[block], in[block];
    uint64_t left_to_send = blocks * block, left_to_receive = blocks * block;
    uint64_t started = measure_now();
    while (left_to_receive > 0) {
        struct pollfd watched = {descriptor, (short)(POLLIN | (left_to_send > 0 ? POLLOUT : 0)), 0};
        if (poll(&watched, 1, -1) < 0) return 0;
        if (watched.revents & POLLOUT) {
            size_t size = left_to_send < block ? left_to_send : block;
            ssize_t count = send(descriptor, out, size, MSG_DONTWAIT);
            if (count < 0 && errno != EAGAIN) return 0;
            if (count > 0) left_to_send -= (uint64_t)count;
        }
        if (watched.revents & POLLIN) {
            ssize_t count = recv(descriptor, in, block, MSG_DONTWAIT);
            if (count == 0 || (count < 0 && errno != EAGAIN)) return 0;
            if (count > 0) left_to_receive -= (uint64_t)count;
        }
    }
    return measure_now() - started;
}

void measure_echo_disconnect(int descriptor) { close(descriptor); }
