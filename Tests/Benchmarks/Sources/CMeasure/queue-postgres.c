#include "peer.h"
#include "queue.h"

#include <dlfcn.h>
#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The peer: a table of PostgreSQL, called through libpq, which is loaded when it is needed. The worker receives and completes
// messages in batches. A message is sent in its own transaction, or in one statement together with others.

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

// The values of libpq's enumerations.
enum { connection_ok = 0, command_ok = 1, tuples_ok = 2, pipeline_sync = 10 };

// The number of connections that send messages in separate transactions.
enum { senders = 16 };

static PGconn *(*connect_database)(const char *options);
static int (*connection_status)(const PGconn *);
static void (*finish)(PGconn *);
static PGresult *(*execute)(PGconn *, const char *);
static PGresult *(*prepare)(PGconn *, const char *name, const char *query, int, const unsigned *);
static int (*send_query)(PGconn *, const char *);
static int (*send_prepared)(PGconn *, const char *name, int, const char *const *, const int *, const int *, int);
static int (*enter_pipeline)(PGconn *);
static int (*end_transaction)(PGconn *);
static PGresult *(*get_result)(PGconn *);
static int (*result_status)(const PGresult *);
static int (*row_count)(const PGresult *);
static void (*clear)(PGresult *);

static int load(void) {
    void *library = dlopen("libpq.so.5", RTLD_NOW);
    if (library == NULL) return -1;
    struct function functions[] = {
        {(void **)&connect_database, "PQconnectdb"},
        {(void **)&connection_status, "PQstatus"},
        {(void **)&finish, "PQfinish"},
        {(void **)&execute, "PQexec"},
        {(void **)&prepare, "PQprepare"},
        {(void **)&send_query, "PQsendQuery"},
        {(void **)&send_prepared, "PQsendQueryPrepared"},
        {(void **)&enter_pipeline, "PQenterPipelineMode"},
        {(void **)&end_transaction, "PQpipelineSync"},
        {(void **)&get_result, "PQgetResult"},
        {(void **)&result_status, "PQresultStatus"},
        {(void **)&row_count, "PQntuples"},
        {(void **)&clear, "PQclear"},
    };
    return find_functions(library, functions, sizeof functions / sizeof *functions);
}

struct postgres {
    PGconn *sender, *worker, *pipelines[senders];
    char text[QUEUE_TEXT + 1];
};

// Frees a result. Returns the number of its rows, or -1 after a failure.
static int rows(PGresult *result) {
    int status = result_status(result), count = row_count(result);
    clear(result);
    return status == command_ok || status == tuples_ok || status == pipeline_sync ? count : -1;
}

// Waits for the end of a query. Returns 0, or -1 after a failure.
static int wait_for(PGconn *connection) {
    int status = 0;
    for (PGresult *result; (result = get_result(connection)) != NULL;) {
        if (rows(result) < 0) status = -1;
    }
    return status;
}

static int insert(struct postgres *queue, PGconn *connection, uint64_t count) {
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)count);
    const char *const values[] = {queue->text, number};
    return send_prepared(connection, "send", 2, values, NULL, NULL, 0) == 1 ? 0 : -1;
}

static uint64_t sends(void *client, uint64_t count) {
    struct postgres *queue = client;
    if (rows(execute(queue->sender, "TRUNCATE work")) < 0) return 0;
    uint64_t started = measure_now();
    for (uint64_t i = 0; i < count; i += 1) {
        if (insert(queue, queue->sender, 1) != 0 || wait_for(queue->sender) != 0) return 0;
    }
    return measure_now() - started;
}

// Sends messages in one statement.
static int send_batch(struct postgres *queue, uint64_t count) {
    return insert(queue, queue->sender, count) == 0 ? wait_for(queue->sender) : -1;
}

// Sends each message in its own transaction. Each connection sends its messages without waiting between them.
static int send_each(struct postgres *queue, uint64_t count) {
    for (uint64_t i = 0; i < count; i += 1) {
        PGconn *connection = queue->pipelines[i % senders];
        if (insert(queue, connection, 1) != 0 || end_transaction(connection) != 1) return -1;
    }
    for (uint64_t i = 0; i < count; i += 1) {
        PGconn *connection = queue->pipelines[i % senders];
        // The result of the statement is followed by NULL, and by the result of the transaction.
        if (wait_for(connection) != 0 || rows(get_result(connection)) < 0) return -1;
    }
    return 0;
}

static uint64_t handle(struct postgres *queue, uint64_t count, uint64_t in_flight, int (*send)(struct postgres *, uint64_t)) {
    char receive[256];
    snprintf(receive, sizeof receive,
             "BEGIN; DELETE FROM work WHERE id = ANY(ARRAY(SELECT id FROM work ORDER BY id LIMIT %llu FOR UPDATE SKIP LOCKED)) "
             "RETURNING id, body",
             (unsigned long long)in_flight);
    if (rows(execute(queue->sender, "TRUNCATE work")) < 0) return 0;
    uint64_t started = measure_now();
    for (uint64_t sent = 0, received = 0; received < count;) {
        uint64_t sending = count - sent < in_flight ? count - sent : in_flight;
        // The messages of the last round are completed while others are sent.
        if (received > 0 && send_query(queue->worker, "COMMIT") != 1) return 0;
        if (send(queue, sending) != 0) return 0;
        if (received > 0 && wait_for(queue->worker) != 0) return 0;
        sent += sending;
        int found = rows(execute(queue->worker, receive));
        if (found <= 0) return 0;
        received += (uint64_t)found;
    }
    if (rows(execute(queue->worker, "COMMIT")) < 0) return 0;
    return measure_now() - started;
}

static uint64_t handle_each(void *client, uint64_t count, uint64_t in_flight) {
    return handle(client, count, in_flight, send_each);
}

static uint64_t handle_batches(void *client, uint64_t count, uint64_t in_flight) {
    return handle(client, count, in_flight, send_batch);
}

static void close_client(void *client) {
    struct postgres *queue = client;
    finish(queue->sender);
    finish(queue->worker);
    for (size_t i = 0; i < senders; i += 1) finish(queue->pipelines[i]);
    free(queue);
}

static PGconn *open_database(pid_t server, const char *folder, const char *owner) {
    char options[512];
    snprintf(options, sizeof options, "host=%s user=%s dbname=postgres", folder, owner);
    for (int tries = 0; tries < 500 && waitpid(server, NULL, WNOHANG) == 0; tries += 1) {
        PGconn *connection = connect_database(options);
        if (connection_status(connection) == connection_ok) return connection;
        finish(connection);
        nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
    }
    return connect_database(options);
}

static void prepare_sending(PGconn *connection) {
    const char *insertion = "INSERT INTO work (body) SELECT $1 FROM generate_series(1, $2::int)";
    clear(prepare(connection, "send", insertion, 0, NULL));
}

// Finds a program of PostgreSQL, which Debian does not put on the PATH. Returns 0, or -1 if there is none.
static int find(const char *name, char *path, size_t size) {
    char pattern[128];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "/usr/lib/postgresql/*/bin/%s", name);
    int status = glob(pattern, 0, NULL, &found);
    if (status == 0) snprintf(path, size, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return status == 0 ? 0 : -1;
}

struct measure_queue *measure_postgres_start(const char *folder, const char *socket_folder) {
    char initdb[256], program[256], data[512];
    if (load() != 0 || find("initdb", initdb, sizeof initdb) != 0) return NULL;
    if (find("postgres", program, sizeof program) != 0) return NULL;
    snprintf(data, sizeof data, "%s/data", folder);
    // PostgreSQL refuses to run as root, so its own user then runs it.
    const char *as_owner[] = {"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"};
    struct passwd *owner = getuid() == 0 ? getpwnam("postgres") : getpwuid(getuid());
    if (owner == NULL || mkdir(data, 0700) != 0) return NULL;
    if (chown(data, owner->pw_uid, owner->pw_gid) != 0 || chown(socket_folder, owner->pw_uid, owner->pw_gid) != 0) return NULL;
    size_t skipped = getuid() == 0 ? 0 : sizeof as_owner / sizeof *as_owner;
    char name[64];
    snprintf(name, sizeof name, "%s", owner->pw_name);
    const char *create[] = {as_owner[0], as_owner[1], as_owner[2], as_owner[3], "sh", "-c", "exec \"$0\" \"$@\" >/dev/null",
                            initdb, "-D", data, "-U", name, "-A", "trust", NULL};
    const char *serve[] = {as_owner[0], as_owner[1], as_owner[2], as_owner[3], program, "-D", data, "-k", socket_folder,
                           "-c", "listen_addresses=", "-c", "log_min_messages=panic", NULL};
    int status = 0;
    pid_t creator = start_peer(create + skipped);
    if (creator < 0 || waitpid(creator, &status, 0) != creator || status != 0) return NULL;
    pid_t server = start_peer(serve + skipped);
    if (server < 0) return NULL;
    struct postgres *queue = calloc(1, sizeof *queue);
    memset(queue->text, 'x', QUEUE_TEXT);
    queue->sender = open_database(server, socket_folder, name);
    queue->worker = open_database(server, socket_folder, name);
    // A failed connection fails each query.
    clear(execute(queue->sender, "CREATE TABLE work (id bigserial PRIMARY KEY, body text)"));
    prepare_sending(queue->sender);
    for (size_t i = 0; i < senders; i += 1) {
        queue->pipelines[i] = open_database(server, socket_folder, name);
        prepare_sending(queue->pipelines[i]);
        enter_pipeline(queue->pipelines[i]);
    }
    return make_queue((struct measure_queue){server, queue, sends, handle_each, handle_batches, close_client});
}
