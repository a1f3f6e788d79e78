#ifndef WAYBILL_BENCHMARKS_CMEASURE_H
#define WAYBILL_BENCHMARKS_CMEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Nanoseconds of the monotonic clock.
uint64_t measure_now(void);

// Bytes that the program holds on the heap; 0 where the C library does not tell.
size_t measure_heap_in_use(void);

// Bytes of memory that the process has resident; 0 where the system does not tell.
size_t measure_resident(void);

// Lets another thread have the core.
void measure_yield_core(void);

// Restricts all threads of the process, and the threads that they start, to one core, or lifts the
// restriction. Has no effect on systems without this function.
void measure_stay_on_one_core(bool stays);

// Lets two libuv loops on two threads wake each other with `uv_async_send`; how long the round trips took together.
uint64_t measure_uv_ping_pong(uint64_t round_trips);

// Starts an echo server in C on its own libuv loop. Returns its port on 127.0.0.1, or -1.
int measure_uv_echo_server(void);

// Connects to an echo server on 127.0.0.1; a descriptor, or -1.
int measure_echo_connect(int port);

// Sends 64 bytes and waits until they are back, over and over; how long that took, or 0 if the connection failed.
uint64_t measure_echo_ping_pong(int descriptor, uint64_t round_trips);

// Sends blocks of 64 KB as fast as the connection takes them, and reads them back; how long that took, or 0.
uint64_t measure_echo_stream(int descriptor, uint64_t blocks);

// Starts an echo server in C at a Unix socket, on its own libuv loop. Returns 0, or -1.
int measure_uv_unix_echo_server(const char *path);

// Connects to a Unix socket; a descriptor, or -1.
int measure_unix_connect(const char *path);

// Sends lines and waits for as many answers, with a number of them in flight. In each line, 8 bytes from an
// offset on become the digits of a unique number. Returns the time, or 0 if the connection failed.
uint64_t measure_line_calls(int descriptor, const char *line, size_t id_offset, uint64_t calls, uint64_t in_flight);

// Sends a line over each of some connections and waits for an answer on each, over and over; how long each call took, and
// how long all of them took together, or 0 if a connection failed.
uint64_t measure_parallel_calls(const int *descriptors, size_t count, const char *line, uint64_t *each, uint64_t calls);

// Sends a line over and over until the socket takes no more; 0, or -1 if the connection failed.
int measure_stuff(int descriptor, const char *line);

// Sends a line; 0, or -1.
int measure_line_send(int descriptor, const char *line);

// Sends a line and waits for two. In the first, behind a text, stands when its sender wrote it; how much later it came, or 0.
uint64_t measure_line_delay(int descriptor, const char *line, const char *before);

// Starts redis-server at a Unix socket and connects to it with hiredis; NULL where one of them is missing.
struct measure_redis *measure_redis_start(const char *path, size_t connections);

// Sends a PING over each of the connections and waits for all replies, over and over; how long that took, or 0.
uint64_t measure_redis_pings(struct measure_redis *redis, uint64_t calls);

// Ends the server.
void measure_redis_stop(struct measure_redis *redis);

// How many bytes a request to the peer over NATS has, and its reply: as many as a call of the bus.
enum { MEASURE_NATS_REQUEST = 160 };

// Starts nats-server with its ports file in a folder, and connects to it with libnats twice; NULL where one of them is missing.
struct measure_nats *measure_nats_start(const char *folder);

// Where the server is.
const char *measure_nats_url(const struct measure_nats *nats);

// Sends requests from one connection to the other, one after the other; how long that took, or 0.
uint64_t measure_nats_requests(struct measure_nats *nats, uint64_t requests);

// Sends requests with a number of them in flight.
uint64_t measure_nats_requests_in_flight(struct measure_nats *nats, uint64_t requests, uint64_t limit);

// Publishes messages of a kilobyte from one connection to the other, until all have come; how long that took, or 0.
uint64_t measure_nats_publish(struct measure_nats *nats, uint64_t messages);

// Ends the server.
void measure_nats_stop(struct measure_nats *nats);

// Sends a request of HTTP over each of some connections and waits for the responses, over and over; their bodies have to
// begin as expected. A connection that the server closes is made anew. How long that took, or 0.
uint64_t measure_web_calls(
    const char *path, int *descriptors, size_t count, const char *request, const char *expected, uint64_t calls);

// Closes a connection.
void measure_echo_disconnect(int descriptor);

// Writes a number of bytes into a file and synchronizes it, over and over. Returns the time, or 0 after a failure.
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

// Ends the server.
void measure_queue_stop(struct measure_queue *queue);

#endif
