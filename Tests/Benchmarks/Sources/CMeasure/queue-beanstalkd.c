#include "peer.h"
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The peer: beanstalkd, which synchronizes its log for each message that is sent or deleted.

struct beanstalkd {
    struct connection sender, worker;
    char text[QUEUE_TEXT + 1];
    // The messages that the worker has received and has not completed yet.
    unsigned long long *ids;
    uint64_t received;
};

static void put(struct beanstalkd *queue) {
    connection_write(&queue->sender, "put 0 0 600 %d\r\n%s\r\n", QUEUE_TEXT, queue->text);
}

static int expect(struct connection *connection, const char *word) {
    const char *line = connection_line(connection);
    return line != NULL && strncmp(line, word, strlen(word)) == 0 ? 0 : -1;
}

static int receive(struct beanstalkd *queue, uint64_t count) {
    for (uint64_t i = 0; i < count; i += 1) connection_write(&queue->worker, "reserve\r\n");
    if (connection_flush(&queue->worker) != 0) return -1;
    for (queue->received = 0; queue->received < count; queue->received += 1) {
        const char *line = connection_line(&queue->worker);
        if (line == NULL || sscanf(line, "RESERVED %llu", &queue->ids[queue->received]) != 1) return -1;
        if (connection_skip(&queue->worker, QUEUE_TEXT + 2) != 0) return -1;
    }
    return 0;
}

// Completes the messages of the last round, and sends others.
static int exchange(struct beanstalkd *queue, uint64_t count) {
    for (uint64_t i = 0; i < queue->received; i += 1) connection_write(&queue->worker, "delete %llu\r\n", queue->ids[i]);
    for (uint64_t i = 0; i < count; i += 1) put(queue);
    if (connection_flush(&queue->worker) != 0 || connection_flush(&queue->sender) != 0) return -1;
    for (uint64_t i = 0; i < queue->received; i += 1) {
        if (expect(&queue->worker, "DELETED") != 0) return -1;
    }
    for (uint64_t i = 0; i < count; i += 1) {
        if (expect(&queue->sender, "INSERTED") != 0) return -1;
    }
    queue->received = 0;
    return 0;
}

static uint64_t handle(void *client, uint64_t count, uint64_t in_flight) {
    struct beanstalkd *queue = client;
    queue->ids = realloc(queue->ids, in_flight * sizeof *queue->ids);
    uint64_t started = measure_now();
    for (uint64_t sent = 0; sent < count;) {
        uint64_t sending = count - sent < in_flight ? count - sent : in_flight;
        if (exchange(queue, sending) != 0 || receive(queue, sending) != 0) return 0;
        sent += sending;
    }
    if (exchange(queue, 0) != 0) return 0;
    return measure_now() - started;
}

static uint64_t sends(void *client, uint64_t count) {
    struct beanstalkd *queue = client;
    uint64_t started = measure_now();
    for (uint64_t i = 0; i < count; i += 1) {
        put(queue);
        if (connection_flush(&queue->sender) != 0 || expect(&queue->sender, "INSERTED") != 0) return 0;
    }
    uint64_t time = measure_now() - started;
    // The next measurement begins with an empty queue.
    queue->ids = realloc(queue->ids, count * sizeof *queue->ids);
    return receive(queue, count) == 0 && exchange(queue, 0) == 0 ? time : 0;
}

static void close_client(void *client) {
    struct beanstalkd *queue = client;
    connection_close(&queue->sender);
    connection_close(&queue->worker);
    free(queue->ids);
    free(queue);
}

struct measure_queue *measure_beanstalkd_start(const char *folder, const char *socket) {
    char address[256];
    snprintf(address, sizeof address, "unix:%s", socket);
    pid_t server = start_peer((const char *[]){"beanstalkd", "-l", address, "-b", folder, "-f", "0", NULL});
    if (server < 0) return NULL;
    struct beanstalkd *queue = calloc(1, sizeof *queue);
    memset(queue->text, 'x', QUEUE_TEXT);
    // A failed connection fails the first command.
    connection_open(&queue->sender, server, socket);
    connection_open(&queue->worker, server, socket);
    return make_queue((struct measure_queue){server, queue, sends, handle, NULL, close_client});
}
