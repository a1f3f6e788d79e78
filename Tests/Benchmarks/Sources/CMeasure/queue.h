#ifndef WAYBILL_BENCHMARKS_QUEUE_H
#define WAYBILL_BENCHMARKS_QUEUE_H

#include "CMeasure.h"

#include <sys/types.h>

// A server that keeps messages on disk.
struct measure_queue {
    pid_t server;
    // The client of the server.
    void *client;
    // Sends messages one after the other, each after the server has acknowledged the message before it. Returns the time, or 0.
    uint64_t (*sends)(void *client, uint64_t count);
    // Sends messages, receives them again and completes them, with a number of messages in flight. Returns the time, or 0.
    uint64_t (*handle)(void *client, uint64_t count, uint64_t in_flight);
    // Sends messages in batches that the client makes. NULL if `handle` is already the fastest way.
    uint64_t (*handle_batches)(void *client, uint64_t count, uint64_t in_flight);
    // Closes the connections and releases the client.
    void (*close)(void *client);
};

// The size of a message in bytes.
enum { QUEUE_TEXT = 200 };

// Copies a queue to the heap. If the queue does not work, closes its client, stops its server, and returns NULL.
struct measure_queue *make_queue(struct measure_queue queue);

// A buffered connection to a server with a text protocol.
struct connection {
    int descriptor;
    char *in, *out;
    size_t out_count, out_capacity, in_start, in_end, in_capacity;
};

// Waits for the Unix socket of a server, and connects to it. Returns 0, or -1 if the server ends or after five seconds.
int connection_open(struct connection *connection, pid_t server, const char *path);
void connection_close(struct connection *connection);

// Appends text to the commands that `connection_flush` sends.
void connection_write(struct connection *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Sends the commands. Returns 0, or -1 after a failure.
int connection_flush(struct connection *connection);

// Reads a line without its line break, or returns NULL after a failure. The line is valid until the next call.
const char *connection_line(struct connection *connection);

// Skips a number of bytes. Returns 0, or -1 after a failure.
int connection_skip(struct connection *connection, size_t count);

#endif
