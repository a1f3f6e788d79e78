#include "CMeasure.h"
#include "peer.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The peer: redis-server with the client hiredis. Both are found at run time, so the benchmarks also run without them.

typedef struct redisContext redisContext;

static redisContext *(*connect_unix)(const char *path);
static int (*append_command)(redisContext *context, const char *format, ...);
static int (*write_buffer)(redisContext *context, int *done);
static int (*get_reply)(redisContext *context, void **reply);
static void (*free_reply)(void *reply);

static int load(void) {
    const char *names[] = {"libhiredis.so", "libhiredis.so.1.1.0", "libhiredis.so.0.14"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && library == NULL; i += 1) library = dlopen(names[i], RTLD_NOW);
    if (library == NULL) return -1;
    struct function functions[] = {
        {(void **)&connect_unix, "redisConnectUnix"},
        {(void **)&append_command, "redisAppendCommand"},
        {(void **)&write_buffer, "redisBufferWrite"},
        {(void **)&get_reply, "redisGetReply"},
        {(void **)&free_reply, "freeReplyObject"},
    };
    return find_functions(library, functions, sizeof functions / sizeof *functions);
}

static void nap(void) {
    struct timespec time = {0, 10 * 1000 * 1000};
    nanosleep(&time, NULL);
}

struct measure_redis {
    pid_t server;
    size_t count;
    redisContext *contexts[];
};

struct measure_redis *measure_redis_start(const char *path, size_t connections) {
    if (load() != 0) return NULL;
    pid_t server = start_peer((const char *[]){"redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                                               "--appendonly", "no", "--logfile", "/dev/null", NULL});
    if (server < 0) return NULL;
    struct measure_redis *redis = calloc(1, sizeof *redis + connections * sizeof(redisContext *));
    redis->server = server;
    for (int tries = 0; access(path, F_OK) != 0 && tries < 500; tries += 1) {
        if (waitpid(server, NULL, WNOHANG) == server) {
            free(redis);
            return NULL;
        }
        nap();
    }
    nap();
    for (; redis->count < connections; redis->count += 1) {
        redis->contexts[redis->count] = connect_unix(path);
        if (redis->contexts[redis->count] == NULL) break;
    }
    if (redis->count == connections && measure_redis_pings(redis, connections) != 0) return redis;
    measure_redis_stop(redis);
    return NULL;
}

void measure_redis_stop(struct measure_redis *redis) {
    stop_peer(redis->server);
    free(redis);
}

uint64_t measure_redis_pings(struct measure_redis *redis, uint64_t calls) {
    uint64_t started = measure_now();
    for (uint64_t done = 0; done < calls;) {
        size_t round = calls - done < redis->count ? (size_t)(calls - done) : redis->count;
        for (size_t i = 0; i < round; i += 1) {
            int is_written = 0;
            if (append_command(redis->contexts[i], "PING") != 0) return 0;
            while (!is_written) {
                if (write_buffer(redis->contexts[i], &is_written) != 0) return 0;
            }
        }
        for (size_t i = 0; i < round; i += 1, done += 1) {
            void *reply = NULL;
            if (get_reply(redis->contexts[i], &reply) != 0 || reply == NULL) return 0;
            free_reply(reply);
        }
    }
    return measure_now() - started;
}
