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
    // Sends messages in batches that the client makes; NULL if `handle` is the fastest way already.
    uint64_t (*handle_batches)(void *client, uint64_t count, uint64_t in_flight);
    // Closes the connections and releases the client.
    void (*close)(void *client);
};

// The text of a message.
enum { QUEUE_TEXT = 200 };

// Creates a queue; NULL, after the client was closed and the server was stopped, if the queue does not work.
struct measure_queue *make_queue(struct measure_queue queue);

// A buffered connection to a server with a text protocol.
struct connection {
    int descriptor;
    char *in, *out;
    size_t out_count, out_capacity, in_start, in_end, in_capacity;
};

// Connects to a Unix socket that a server creates soon; -1 if the server ends, or if there is no socket after five seconds.
int connection_open(struct connection *connection, pid_t server, const char *path);
void connection_close(struct connection *connection);

// Appends text to the commands that `connection_flush` sends.
void connection_write(struct connection *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Sends the commands; 0, or -1.
int connection_flush(struct connection *connection);

// Reads a line without its line break; NULL if the connection has failed. The line is valid until the next call.
const char *connection_line(struct connection *connection);

// Skips a number of bytes; 0, or -1.
int connection_skip(struct connection *connection, size_t count);

#endif
