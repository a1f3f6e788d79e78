#include "CMeasure.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__APPLE__)
#define fdatasync fsync
#endif

uint64_t measure_synchronize(const char *path, size_t size, int count) {
    char bytes[65536];
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || size > sizeof(bytes)) return 0;
    memset(bytes, 'x', size);
    uint64_t start = measure_now();
    for (int i = 0; i < count; i++) {
        // The write-ahead log of SQLite is overwritten from its beginning when it has 1,000 pages.
        off_t offset = (off_t)(((size_t)i * size) % (4096 * 1000));
        if (pwrite(file, bytes, size, offset) != (ssize_t)size || fdatasync(file) != 0) {
            start = 0;
            break;
        }
    }
    uint64_t time = start == 0 ? 0 : measure_now() - start;
    close(file);
    return time;
}

static int run(sqlite3 *database, const char *sql) { return sqlite3_exec(database, sql, NULL, NULL, NULL); }

static uint64_t handle(sqlite3 *database, int count, int batch) {
    char text[200];
    memset(text, 'x', sizeof(text));
    sqlite3_stmt *insert = NULL, *delete = NULL;
    sqlite3_prepare_v2(database, "INSERT INTO messages VALUES (?, 1, ?, 0)", -1, &insert, NULL);
    sqlite3_prepare_v2(database, "DELETE FROM messages WHERE id = ?", -1, &delete, NULL);
    int status = insert == NULL || delete == NULL ? SQLITE_ERROR : SQLITE_OK;
    uint64_t start = measure_now();
    for (int first = 0; first < count && status == SQLITE_OK; first += batch) {
        // The commit of this batch deletes the messages of the previous batch, as a store does.
        status = run(database, "BEGIN IMMEDIATE");
        for (int id = first; id < first + batch && status == SQLITE_OK; id++) {
            sqlite3_bind_int(insert, 1, id);
            sqlite3_bind_text(insert, 2, text, sizeof(text), SQLITE_STATIC);
            if (sqlite3_step(insert) != SQLITE_DONE) status = SQLITE_ERROR;
            sqlite3_reset(insert);
            sqlite3_bind_int(delete, 1, id - batch);
            if (sqlite3_step(delete) != SQLITE_DONE) status = SQLITE_ERROR;
            sqlite3_reset(delete);
        }
        if (status == SQLITE_OK) status = run(database, "COMMIT");
    }
    uint64_t time = measure_now() - start;
    sqlite3_finalize(insert);
    sqlite3_finalize(delete);
    return status == SQLITE_OK ? time : 0;
}

uint64_t measure_sqlite(const char *path, int count, int batch) {
    sqlite3 *database = NULL;
    uint64_t time = 0;
    if (sqlite3_open(path, &database) == SQLITE_OK && run(database, "PRAGMA locking_mode = EXCLUSIVE") == SQLITE_OK
        && run(database, "PRAGMA journal_mode = WAL") == SQLITE_OK
        && run(database, "PRAGMA synchronous = FULL") == SQLITE_OK
        && run(database, "DROP TABLE IF EXISTS messages") == SQLITE_OK
        && run(database, "CREATE TABLE messages (id INTEGER PRIMARY KEY, state, url, due)") == SQLITE_OK) {
        time = handle(database, count, batch);
    }
    sqlite3_close(database);
    return time;
}
