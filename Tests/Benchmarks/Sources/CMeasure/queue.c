#include "queue.h"
#include "peer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The code that the peers of a durable store share.

struct measure_queue *make_queue(struct measure_queue queue) {
    struct measure_queue *result = malloc(sizeof *result);
    *result = queue;
    if (result->sends(result->client, 1) != 0 && result->handle(result->client, 10, 4) != 0) return result;
    measure_queue_stop(result);
    return NULL;
}

uint64_t measure_queue_sends(struct measure_queue *queue, uint64_t count) { return queue->sends(queue->client, count); }

uint64_t measure_queue_handle(struct measure_queue *queue, uint64_t count, uint64_t in_flight) {
    return queue->handle(queue->client, count, in_flight);
}

uint64_t measure_queue_handle_batches(struct measure_queue *queue, uint64_t count, uint64_t in_flight) {
    return queue->handle_batches == NULL ? 0 : queue->handle_batches(queue->client, count, in_flight);
}

void measure_queue_stop(struct measure_queue *queue) {
    queue->close(queue->client);
    stop_peer(queue->server);
    free(queue);
}

int connection_open(struct connection *connection, pid_t server, const char *path) {
    *connection = (struct connection){.descriptor = -1, .in_capacity = 1 << 20, .out_capacity = 1 << 20};
    for (int tries = 0; tries < 500 && waitpid(server, NULL, WNOHANG) == 0; tries += 1) {
        connection->descriptor = measure_unix_connect(path);
        if (connection->descriptor >= 0) {
            connection->in = malloc(connection->in_capacity);
            connection->out = malloc(connection->out_capacity);
            return 0;
        }
        nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
    }
    return -1;
}

void connection_close(struct connection *connection) {
    if (connection->descriptor >= 0) close(connection->descriptor);
    free(connection->in);
    free(connection->out);
}

void connection_write(struct connection *connection, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = connection->out_capacity - connection->out_count;
    int count = vsnprintf(connection->out + connection->out_count, room, format, arguments);
    va_end(arguments);
    // The commands of a round are shorter than the buffer.
    if (count < 0 || (size_t)count >= room) abort();
    connection->out_count += (size_t)count;
}

int connection_flush(struct connection *connection) {
    size_t sent = 0;
    while (sent < connection->out_count) {
        size_t rest = connection->out_count - sent;
        ssize_t count = send(connection->descriptor, connection->out + sent, rest, MSG_NOSIGNAL);
        if (count <= 0) return -1;
        sent += (size_t)count;
    }
    connection->out_count = 0;
    return 0;
}

static int fill(struct connection *connection) {
    size_t rest = connection->in_end - connection->in_start;
    memmove(connection->in, connection->in + connection->in_start, rest);
    connection->in_start = 0;
    connection->in_end = rest;
    ssize_t count = recv(connection->descriptor, connection->in + rest, connection->in_capacity - rest, 0);
    if (count <= 0) return -1;
    connection->in_end += (size_t)count;
    return 0;
}

const char *connection_line(struct connection *connection) {
    while (1) {
        char *start = connection->in + connection->in_start;
        size_t count = connection->in_end - connection->in_start;
        char *end = count == 0 ? NULL : memchr(start, '\n', count);
        if (end != NULL) {
            connection->in_start += (size_t)(end - start) + 1;
            *end = 0;
            if (end > start && end[-1] == '\r') end[-1] = 0;
            return start;
        }
        if (fill(connection) != 0) return NULL;
    }
}

int connection_skip(struct connection *connection, size_t count) {
    while (connection->in_end - connection->in_start < count) {
        if (fill(connection) != 0) return -1;
    }
    connection->in_start += count;
    return 0;
}
