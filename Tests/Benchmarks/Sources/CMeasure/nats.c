#include "CMeasure.h"
#include "peer.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The peer: nats-server with the client libnats. Both are found at run time, so the benchmarks also run without them.

typedef struct natsConnection natsConnection;
typedef struct natsSubscription natsSubscription;
typedef struct natsMsg natsMsg;
typedef struct natsOptions natsOptions;
typedef void (*handler)(natsConnection *, natsSubscription *, natsMsg *, void *);

static int (*create_options)(natsOptions **);
static int (*set_url)(natsOptions *, const char *url);
static int (*set_send_asap)(natsOptions *, bool);
static void (*free_options)(natsOptions *);
static int (*connect_with)(natsConnection **, natsOptions *);
static int (*subscribe)(natsSubscription **, natsConnection *, const char *subject, handler, void *);
static int (*subscribe_sync)(natsSubscription **, natsConnection *, const char *subject);
static int (*next_message)(natsMsg **, natsSubscription *, int64_t timeout);
static int (*set_limits)(natsSubscription *, int messages, int bytes);
static int (*publish)(natsConnection *, const char *subject, const void *, int);
static int (*publish_request)(natsConnection *, const char *subject, const char *reply, const void *, int);
static int (*request)(natsMsg **, natsConnection *, const char *subject, const void *, int, int64_t timeout);
static int (*flush)(natsConnection *);
static const char *(*reply_of)(natsMsg *);
static void (*free_message)(natsMsg *);
static void (*free_subscription)(natsSubscription *);
static void (*free_connection)(natsConnection *);

static int load(void) {
    const char *names[] = {"libnats.so", "libnats.so.3.4", "libnats.so.3.7", "libnats.so.3.8"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && library == NULL; i += 1) library = dlopen(names[i], RTLD_NOW);
    if (library == NULL) return -1;
    struct function functions[] = {
        {(void **)&create_options, "natsOptions_Create"},
        {(void **)&set_url, "natsOptions_SetURL"},
        {(void **)&set_send_asap, "natsOptions_SetSendAsap"},
        {(void **)&free_options, "natsOptions_Destroy"},
        {(void **)&connect_with, "natsConnection_Connect"},
        {(void **)&subscribe, "natsConnection_Subscribe"},
        {(void **)&subscribe_sync, "natsConnection_SubscribeSync"},
        {(void **)&next_message, "natsSubscription_NextMsg"},
        {(void **)&set_limits, "natsSubscription_SetPendingLimits"},
        {(void **)&publish, "natsConnection_Publish"},
        {(void **)&publish_request, "natsConnection_PublishRequest"},
        {(void **)&request, "natsConnection_Request"},
        {(void **)&flush, "natsConnection_Flush"},
        {(void **)&reply_of, "natsMsg_GetReply"},
        {(void **)&free_message, "natsMsg_Destroy"},
        {(void **)&free_subscription, "natsSubscription_Destroy"},
        {(void **)&free_connection, "natsConnection_Destroy"},
    };
    return find_functions(library, functions, sizeof functions / sizeof *functions);
}

struct measure_nats {
    pid_t server;
    char url[128];
    // `near` sends requests, `far` answers requests and counts messages, and `teller` publishes from a buffer.
    natsConnection *near, *far, *teller;
    natsSubscription *answers, *counted, *inbox;
    char payload[1024];
    atomic_ullong taken;
};

static void nap(void) {
    struct timespec time = {0, 10 * 1000 * 1000};
    nanosleep(&time, NULL);
}

// Reads the URL that the server has written to its ports file as JSON, such as "nats://127.0.0.1:4222".
static int read_url(const char *folder, char *url, size_t size) {
    DIR *entries = opendir(folder);
    if (entries == NULL) return -1;
    int result = -1;
    for (struct dirent *entry; result != 0 && (entry = readdir(entries)) != NULL;) {
        if (strstr(entry->d_name, ".ports") == NULL) continue;
        char path[1024], text[1024] = "";
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL) continue;
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
        char *start = strstr(text, "nats://"), *end = start ? strchr(start, '"') : NULL;
        if (end == NULL || (size_t)(end - start) >= size) continue;
        memcpy(url, start, (size_t)(end - start));
        url[end - start] = 0;
        result = 0;
    }
    closedir(entries);
    return result;
}

static void answer(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *data) {
    (void)subscription;
    struct measure_nats *nats = data;
    publish(connection, reply_of(message), nats->payload, MEASURE_NATS_REQUEST);
    free_message(message);
}

static void count(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *data) {
    (void)connection;
    (void)subscription;
    atomic_fetch_add(&((struct measure_nats *)data)->taken, 1);
    free_message(message);
}

// Opens a connection, which sends a message immediately or, after a millisecond, together with later messages.
static int open_connection(natsConnection **connection, const char *url, bool at_once) {
    natsOptions *options = NULL;
    int status = create_options(&options);
    if (status == 0) status = set_url(options, url);
    if (status == 0) status = set_send_asap(options, at_once);
    if (status == 0) status = connect_with(connection, options);
    if (options) free_options(options);
    return status;
}

struct measure_nats *measure_nats_start(const char *folder) {
    if (load() != 0) return NULL;
    pid_t server = start_peer((const char *[]){"nats-server", "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder,
                                               "-l", "/dev/null", NULL});
    if (server < 0) return NULL;
    struct measure_nats *nats = calloc(1, sizeof *nats);
    nats->server = server;
    memset(nats->payload, 'x', sizeof nats->payload);
    int is_running = 0;
    for (int tries = 0; !is_running && tries < 500; tries += 1) {
        if (waitpid(server, NULL, WNOHANG) == server) {
            free(nats);
            return NULL;
        }
        nap();
        is_running = read_url(folder, nats->url, sizeof nats->url) == 0;
    }
    if (is_running && open_connection(&nats->near, nats->url, true) == 0 &&
        open_connection(&nats->far, nats->url, true) == 0 && open_connection(&nats->teller, nats->url, false) == 0 &&
        subscribe(&nats->answers, nats->far, "peer.ask", answer, nats) == 0 &&
        subscribe(&nats->counted, nats->far, "peer.tell", count, nats) == 0 && set_limits(nats->counted, -1, -1) == 0 &&
        subscribe_sync(&nats->inbox, nats->near, "peer.inbox") == 0 && flush(nats->far) == 0 && flush(nats->near) == 0) return nats;
    measure_nats_stop(nats);
    return NULL;
}

void measure_nats_stop(struct measure_nats *nats) {
    if (nats->answers) free_subscription(nats->answers);
    if (nats->counted) free_subscription(nats->counted);
    if (nats->inbox) free_subscription(nats->inbox);
    if (nats->near) free_connection(nats->near);
    if (nats->far) free_connection(nats->far);
    if (nats->teller) free_connection(nats->teller);
    stop_peer(nats->server);
    free(nats);
}

const char *measure_nats_url(const struct measure_nats *nats) { return nats->url; }

uint64_t measure_nats_requests(struct measure_nats *nats, uint64_t requests) {
    uint64_t started = measure_now();
    for (uint64_t done = 0; done < requests; done += 1) {
        natsMsg *reply = NULL;
        if (request(&reply, nats->near, "peer.ask", nats->payload, MEASURE_NATS_REQUEST, 5000) != 0) return 0;
        free_message(reply);
    }
    return measure_now() - started;
}

uint64_t measure_nats_requests_in_flight(struct measure_nats *nats, uint64_t requests, uint64_t limit) {
    uint64_t started = measure_now();
    for (uint64_t sent = 0, done = 0; done < requests; done += 1) {
        for (; sent < requests && sent - done < limit; sent += 1) {
            if (publish_request(nats->near, "peer.ask", "peer.inbox", nats->payload, MEASURE_NATS_REQUEST) != 0) return 0;
        }
        natsMsg *reply = NULL;
        if (next_message(&reply, nats->inbox, 5000) != 0) return 0;
        free_message(reply);
    }
    return measure_now() - started;
}

uint64_t measure_nats_publish(struct measure_nats *nats, uint64_t messages) {
    uint64_t before = atomic_load(&nats->taken), started = measure_now();
    for (uint64_t sent = 0; sent < messages; sent += 1) {
        if (publish(nats->teller, "peer.tell", nats->payload, sizeof nats->payload) != 0) return 0;
    }
    if (flush(nats->teller) != 0) return 0;
    while (atomic_load(&nats->taken) - before < messages) {
        if (measure_now() - started > 30ull * 1000 * 1000 * 1000) return 0;
        struct timespec time = {0, 20 * 1000};
        nanosleep(&time, NULL);
    }
    return measure_now() - started;
}
