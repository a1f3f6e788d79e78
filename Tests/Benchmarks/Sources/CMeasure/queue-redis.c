#include "peer.h"
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The peer: a stream of redis-server with a group of consumers. The server synchronizes its log before it replies.

// The server reads 16 KB of a connection before it synchronizes, so the senders have several connections.
enum { senders = 8, longest_id = 32 };

struct redis {
    struct connection senders[senders], worker;
    char text[QUEUE_TEXT + 1];
    // The messages that the worker has received and has not completed yet.
    char (*ids)[longest_id];
    size_t received;
};

static void add(struct redis *redis, struct connection *sender) {
    connection_write(sender, "*5\r\n$4\r\nXADD\r\n$4\r\nwork\r\n$1\r\n*\r\n$4\r\ntext\r\n");
    connection_write(sender, "$%d\r\n%s\r\n", QUEUE_TEXT, redis->text);
}

// Reads a reply. Returns 0, or -1 if the reply is an error. Stores the IDs of messages if `redis` is not NULL.
static int reply(struct connection *connection, struct redis *redis) {
    const char *line = connection_line(connection);
    if (line == NULL || line[0] == '-') return -1;
    // The line is valid until the next line is read.
    char kind = line[0];
    long count = atol(line + 1);
    if (kind == '$' && count >= 0) {
        const char *value = connection_line(connection);
        if (value == NULL) return -1;
        if (redis != NULL && count < longest_id && strchr(value, '-') != NULL) strcpy(redis->ids[redis->received++], value);
    }
    for (long i = 0; kind == '*' && i < count; i += 1) {
        if (reply(connection, redis) != 0) return -1;
    }
    return 0;
}

static void write_id(struct connection *connection, const char *id) {
    connection_write(connection, "$%zu\r\n%s\r\n", strlen(id), id);
}

static int command(struct connection *connection, const char *text) {
    connection_write(connection, "%s\r\n", text);
    return connection_flush(connection) == 0 ? reply(connection, NULL) : -1;
}

static int begin(struct redis *redis) {
    redis->received = 0;
    return command(&redis->worker, "DEL work") == 0
            && command(&redis->worker, "XGROUP CREATE work group 0 MKSTREAM") == 0
        ? 0
        : -1;
}

static uint64_t sends(void *client, uint64_t count) {
    struct redis *redis = client;
    if (begin(redis) != 0) return 0;
    uint64_t started = measure_now();
    for (uint64_t i = 0; i < count; i += 1) {
        add(redis, &redis->senders[0]);
        if (connection_flush(&redis->senders[0]) != 0 || reply(&redis->senders[0], NULL) != 0) return 0;
    }
    return measure_now() - started;
}

// Asks the server to complete the received messages, and to delete them.
static int complete(struct redis *redis) {
    struct connection *worker = &redis->worker;
    if (redis->received == 0) return 0;
    connection_write(worker, "*%zu\r\n$4\r\nXACK\r\n$4\r\nwork\r\n$5\r\ngroup\r\n", redis->received + 3);
    for (size_t i = 0; i < redis->received; i += 1) write_id(worker, redis->ids[i]);
    connection_write(worker, "*%zu\r\n$4\r\nXDEL\r\n$4\r\nwork\r\n", redis->received + 2);
    for (size_t i = 0; i < redis->received; i += 1) write_id(worker, redis->ids[i]);
    return connection_flush(worker);
}

static int receive(struct redis *redis, uint64_t limit) {
    unsigned long long count = limit;
    redis->received = 0;
    connection_write(&redis->worker, "XREADGROUP GROUP group worker COUNT %llu STREAMS work >\r\n", count);
    return connection_flush(&redis->worker) == 0 ? reply(&redis->worker, redis) : -1;
}

// Completes the messages of the last round and sends others, so that the server can synchronize both at once.
static int exchange(struct redis *redis, uint64_t count) {
    if (complete(redis) != 0) return -1;
    for (uint64_t i = 0; i < count; i += 1) add(redis, &redis->senders[i % senders]);
    for (size_t i = 0; i < senders; i += 1) {
        if (connection_flush(&redis->senders[i]) != 0) return -1;
    }
    for (uint64_t i = 0; i < count; i += 1) {
        if (reply(&redis->senders[i % senders], NULL) != 0) return -1;
    }
    for (size_t i = 0; i < 2 && redis->received > 0; i += 1) {
        if (reply(&redis->worker, NULL) != 0) return -1;
    }
    return 0;
}

static uint64_t handle(void *client, uint64_t count, uint64_t in_flight) {
    struct redis *redis = client;
    redis->ids = realloc(redis->ids, in_flight * sizeof *redis->ids);
    if (begin(redis) != 0) return 0;
    uint64_t started = measure_now();
    for (uint64_t sent = 0, received = 0; received < count; received += redis->received) {
        uint64_t sending = count - sent < in_flight ? count - sent : in_flight;
        if (exchange(redis, sending) != 0 || receive(redis, in_flight) != 0 || redis->received == 0) return 0;
        sent += sending;
    }
    if (exchange(redis, 0) != 0) return 0;
    return measure_now() - started;
}

static void close_client(void *client) {
    struct redis *redis = client;
    for (size_t i = 0; i < senders; i += 1) connection_close(&redis->senders[i]);
    connection_close(&redis->worker);
    free(redis->ids);
    free(redis);
}

struct measure_queue *measure_redis_queue_start(const char *folder, const char *socket) {
    pid_t server = start_peer((const char *[]){"redis-server", "--port", "0", "--unixsocket", socket, "--dir", folder, "--save",
                                               "", "--appendonly", "yes", "--appendfsync", "always", "--logfile",
                                               "/dev/null", NULL});
    if (server < 0) return NULL;
    struct redis *redis = calloc(1, sizeof *redis);
    memset(redis->text, 'x', QUEUE_TEXT);
    // A failed connection fails the first command.
    connection_open(&redis->worker, server, socket);
    for (size_t i = 0; i < senders; i += 1) connection_open(&redis->senders[i], server, socket);
    return make_queue((struct measure_queue){server, redis, sends, handle, NULL, close_client});
}
