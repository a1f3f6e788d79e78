#include "CMeasure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// A client of line-based servers over a Unix socket. Its own cost is small, and equal for each server.

int measure_unix_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    close(descriptor);
    return -1;
}

static int send_all(int descriptor, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(descriptor, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0) return -1;
        bytes += sent;
        count -= (size_t)sent;
    }
    return 0;
}

int measure_line_send(int descriptor, const char *line) { return send_all(descriptor, line, strlen(line)); }

uint64_t measure_line_calls(int descriptor, const char *line, size_t id_offset, uint64_t calls, uint64_t in_flight) {
    size_t length = strlen(line);
    uint64_t sent = 0, answered = 0;
    char *out = malloc(length * in_flight);
    char in[64 * 1024];
    uint64_t started = measure_now();
    while (answered < calls) {
        size_t filled = 0;
        for (; sent < calls && sent - answered < in_flight; sent += 1) {
            char digits[9];
            memcpy(out + filled, line, length);
            snprintf(digits, sizeof digits, "%08u", 10000000 + (unsigned)(sent % 10000000));
            memcpy(out + filled + id_offset, digits, 8);
            filled += length;
        }
        if (send_all(descriptor, out, filled) != 0) break;
        ssize_t count = recv(descriptor, in, sizeof in, 0);
        if (count <= 0) break;
        for (const char *at = in; (at = memchr(at, '\n', (size_t)(in + count - at))) != NULL; at += 1) answered += 1;
    }
    free(out);
    return answered < calls ? 0 : measure_now() - started;
}

uint64_t measure_line_delay(int descriptor, const char *line, const char *before) {
    char in[4096];
    size_t filled = 0;
    uint64_t received = 0, written = 0;
    if (send_all(descriptor, line, strlen(line)) != 0) return 0;
    // The time is in the first line, and the response in the second.
    for (int lines = 0; lines < 2;) {
        ssize_t count = recv(descriptor, in + filled, sizeof in - 1 - filled, 0);
        if (count <= 0) return 0;
        if (received == 0) received = measure_now();
        for (ssize_t i = 0; i < count; i += 1) lines += in[filled + (size_t)i] == '\n';
        filled += (size_t)count;
        if (filled >= sizeof in - 1) return 0;
    }
    in[filled] = 0;
    const char *value = strstr(in, before);
    if (value == NULL) return 0;
    written = strtoull(value + strlen(before), NULL, 10);
    return received > written ? received - written : 0;
}

uint64_t measure_parallel_calls(const int *descriptors, size_t count, const char *line, uint64_t *each, uint64_t calls) {
    size_t length = strlen(line);
    char in[4096];
    uint64_t begun[256];
    uint64_t started = measure_now();
    if (count > sizeof begun / sizeof *begun) return 0;
    for (uint64_t done = 0; done < calls;) {
        size_t round = calls - done < count ? (size_t)(calls - done) : count;
        for (size_t i = 0; i < round; i += 1) {
            begun[i] = measure_now();
            if (send_all(descriptors[i], line, length) != 0) return 0;
        }
        for (size_t i = 0; i < round; i += 1, done += 1) {
            ssize_t received;
            do {
                received = recv(descriptors[i], in, sizeof in, 0);
                if (received <= 0) return 0;
            } while (in[received - 1] != '\n');
            each[done] = measure_now() - begun[i];
        }
    }
    return measure_now() - started;
}

int measure_stuff(int descriptor, const char *line) {
    size_t length = strlen(line);
    while (1) {
        ssize_t sent = send(descriptor, line, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) return errno == EAGAIN ? 0 : -1;
        // The socket has room for only a part of this line, so it is full.
        if ((size_t)sent < length) return 0;
    }
}
