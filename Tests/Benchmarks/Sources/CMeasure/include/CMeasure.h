#ifndef WAYBILL_BENCHMARKS_CMEASURE_H
#define WAYBILL_BENCHMARKS_CMEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Returns the time of the monotonic clock in nanoseconds.
uint64_t measure_now(void);

// Returns the number of bytes that are allocated on the heap, or 0 if the C library does not count them.
size_t measure_heap_in_use(void);

// Returns the resident memory of the process in bytes, or 0 if the system does not report it.
size_t measure_resident(void);

// Yields the core to another thread.
void measure_yield_core(void);

// Restricts all threads of the process, and the threads that they start, to one core, or lifts the
// restriction. Has no effect on systems without this function.
void measure_stay_on_one_core(bool stays);

// Lets two libuv loops on two threads wake each other with `uv_async_send`. Returns the time of all round trips.
uint64_t measure_uv_ping_pong(uint64_t round_trips);

// Starts an echo server in C on its own libuv loop. Returns its port on 127.0.0.1, or -1.
int measure_uv_echo_server(void);

// Connects to an echo server on 127.0.0.1. Returns a descriptor, or -1.
int measure_echo_connect(int port);

// Sends 64 bytes and waits until they are back, repeatedly. Returns the time, or 0 if the connection failed.
uint64_t measure_echo_ping_pong(int descriptor, uint64_t round_trips);

// Sends blocks of 64 KB as fast as the connection accepts them, and reads them back. Returns the time, or 0.
uint64_t measure_echo_stream(int descriptor, uint64_t blocks);

// Starts an echo server in C at a Unix socket, on its own libuv loop. Returns 0, or -1.
int measure_uv_unix_echo_server(const char *path);

// Connects to a Unix socket. Returns a descriptor, or -1.
int measure_unix_connect(const char *path);

// Sends lines and waits for as many answers, with a number of them in flight. In each line, 8 bytes from an
// offset on become the digits of a unique number. Returns the time, or 0 if the connection failed.
uint64_t measure_line_calls(int descriptor, const char *line, size_t id_offset, uint64_t calls, uint64_t in_flight);

// Sends a line over each connection and waits for an answer on each, repeatedly. Stores the time of each call in `each`.
// Returns the time of all calls together, or 0 if a connection failed.
uint64_t measure_parallel_calls(const int *descriptors, size_t count, const char *line, uint64_t *each, uint64_t calls);

// Sends a line repeatedly until the socket accepts no more bytes. Returns 0, or -1 if the connection failed.
int measure_stuff(int descriptor, const char *line);

// Sends a line. Returns 0, or -1 if the connection failed.
int measure_line_send(int descriptor, const char *line);

// Sends a line and waits for two lines. The first line contains the time at which its sender wrote it, after the text
// `before`. Returns the time from then until the line arrived, or 0 after a failure.
uint64_t measure_line_delay(int descriptor, const char *line, const char *before);

// Starts redis-server at a Unix socket and connects to it with hiredis. Returns NULL if one of them is missing.
struct measure_redis *measure_redis_start(const char *path, size_t connections);

// Sends a PING over each connection and waits for all replies, repeatedly. Returns the time, or 0.
uint64_t measure_redis_pings(struct measure_redis *redis, uint64_t calls);

// Stops the server.
void measure_redis_stop(struct measure_redis *redis);

// The size of a request over NATS, and of its reply, in bytes. A call of the bus has the same size.
enum { MEASURE_NATS_REQUEST = 160 };

// Starts nats-server with its ports file in a folder, and connects to it with libnats. Returns NULL if one of them is missing.
struct measure_nats *measure_nats_start(const char *folder);

// Returns the URL of the server.
const char *measure_nats_url(const struct measure_nats *nats);

// Sends requests from one connection to another, one after the other. Returns the time, or 0.
uint64_t measure_nats_requests(struct measure_nats *nats, uint64_t requests);

// Sends requests with at most `limit` of them in flight. Returns the time, or 0.
uint64_t measure_nats_requests_in_flight(struct measure_nats *nats, uint64_t requests, uint64_t limit);

// Publishes messages of a kilobyte from one connection to another, and waits until all have arrived. Returns the time, or 0.
uint64_t measure_nats_publish(struct measure_nats *nats, uint64_t messages);

// Stops the server.
void measure_nats_stop(struct measure_nats *nats);

// Sends an HTTP request over each connection and waits for the responses, repeatedly. Each body must begin with `expected`.
// If the server closes a connection, the function connects again. Returns the time, or 0.
uint64_t measure_web_calls(
    const char *path, int *descriptors, size_t count, const char *request, const char *expected, uint64_t calls);

// Closes a connection.
void measure_echo_disconnect(int descriptor);

// Writes a number of bytes into a file and synchronizes it, repeatedly. Returns the time, or 0 after a failure.
uint64_t measure_synchronize(const char *path, size_t size, int count);

// Inserts messages into a table of SQLite and deletes them, with a number of messages in each commit. Returns the time, or 0
// after a failure.
uint64_t measure_sqlite(const char *path, int count, int batch);

// A server that keeps messages on disk: each call starts the server with its data in a folder, where it listens at a Unix
// socket. Returns NULL if the server or its client library is missing. PostgreSQL names its socket itself, in a folder.
struct measure_queue *measure_redis_queue_start(const char *folder, const char *socket);
struct measure_queue *measure_beanstalkd_start(const char *folder, const char *socket);
struct measure_queue *measure_postgres_start(const char *folder, const char *socket_folder);

// Sends messages of 200 bytes one after the other, each after the server has acknowledged the message before it. Returns the
// time, or 0 after a failure.
uint64_t measure_queue_sends(struct measure_queue *queue, uint64_t count);

// Sends messages of 200 bytes, receives them again and completes them, with a number of messages in flight. Returns the time,
// or 0 after a failure.
uint64_t measure_queue_handle(struct measure_queue *queue, uint64_t count, uint64_t in_flight);

// Sends, receives and completes messages as `measure_queue_handle` does, but sends all messages that are in flight with one
// statement of PostgreSQL. Other servers do not have this function, so the time is 0.
uint64_t measure_queue_handle_batches(struct measure_queue *queue, uint64_t count, uint64_t in_flight);

// Stops the server.
void measure_queue_stop(struct measure_queue *queue);

#endif
