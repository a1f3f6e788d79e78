#define _GNU_SOURCE
#include "CMeasure.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

// An HTTP/1.1 client that keeps its connections, and reads only the status and the length of a response.

static const char *value_of(const char *head, const char *name) {
    const char *at = strcasestr(head, name);
    return at == NULL ? NULL : at + strlen(name);
}

// Reads a response. Returns 1 if the server closes the connection after it, 0 if not, or -1 after a failure.
static int receive(int descriptor, const char *expected) {
    char in[16 * 1024];
    size_t filled = 0, needed = sizeof in - 1;
    const char *body = NULL;
    while (filled < needed) {
        ssize_t count = recv(descriptor, in + filled, sizeof in - 1 - filled, 0);
        if (count <= 0) return -1;
        filled += (size_t)count;
        in[filled] = 0;
        if (body == NULL && (body = strstr(in, "\r\n\r\n")) != NULL) {
            const char *size = value_of(in, "\r\ncontent-length:");
            body += 4;
            if (size == NULL || strncmp(in, "HTTP/1.1 200", 12) != 0) return -1;
            needed = (size_t)(body - in) + (size_t)atoi(size);
        }
    }
    if (strncmp(body, expected, strlen(expected)) != 0) return -1;
    return value_of(in, "\r\nconnection: close") != NULL;
}

uint64_t measure_web_calls(
    const char *path, int *descriptors, size_t count, const char *request, const char *expected, uint64_t calls) {
    size_t length = strlen(request);
    uint64_t started = measure_now();
    for (uint64_t done = 0; done < calls;) {
        size_t round = calls - done < count ? (size_t)(calls - done) : count;
        for (size_t i = 0; i < round; i += 1) {
            if (send(descriptors[i], request, length, MSG_NOSIGNAL) != (ssize_t)length) return 0;
        }
        for (size_t i = 0; i < round; i += 1, done += 1) {
            int is_closed = receive(descriptors[i], expected);
            if (is_closed < 0) return 0;
            if (!is_closed) continue;
            close(descriptors[i]);
            descriptors[i] = measure_unix_connect(path);
        }
    }
    return measure_now() - started;
}
