#include "faultydisk.h"

// Without the trait `Durable`, the package needs no SQLite, and no test uses the disk.
#if __has_include(<sqlite3.h>)

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_COUNT = 8, SECTOR = 512 };

typedef struct {
    int64_t offset;
    int64_t count;
    unsigned char *bytes;  // NULL for a truncation to `offset`.
} Write;

typedef struct {
    char *bytes;
    int64_t size;
} Content;

typedef struct {
    char name[64];
    Content current;  // As a reader sees the file.
    Content synced;   // As the disk keeps it without the writes below.
    Write *writes;
    int write_count;
} DiskFile;

static DiskFile files[FILE_COUNT];
static uint64_t random_state;
// Tests change and read these while the thread of a store uses the disk.
static atomic_int cut_after;
static atomic_int has_power = 1;
static atomic_long operations;
static _Atomic int64_t limit;
static atomic_int sync_fails;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void content_resize(Content *content, int64_t size) {
    if (size > content->size) {
        content->bytes = realloc(content->bytes, (size_t)size);
        memset(content->bytes + content->size, 0, (size_t)(size - content->size));
    }
    content->size = size;
}

static void content_write(Content *content, const void *bytes, int64_t count, int64_t offset) {
    if (offset + count > content->size) content_resize(content, offset + count);
    memcpy(content->bytes + offset, bytes, (size_t)count);
}

static void drop_writes(DiskFile *file) {
    for (int i = 0; i < file->write_count; i++) free(file->writes[i].bytes);
    free(file->writes);
    file->writes = NULL;
    file->write_count = 0;
}

static void content_copy(Content *to, const Content *from) {
    to->bytes = realloc(to->bytes, from->size > 0 ? (size_t)from->size : 1);
    if (from->size > 0) memcpy(to->bytes, from->bytes, (size_t)from->size);
    to->size = from->size;
}

static DiskFile *find(const char *name) {
    for (int i = 0; i < FILE_COUNT; i++) {
        if (strcmp(files[i].name, name) == 0) return &files[i];
    }
    return NULL;
}

// The last part of a path: SQLite passes an absolute one.
static const char *short_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static DiskFile *create(const char *name) {
    for (int i = 0; i < FILE_COUNT; i++) {
        if (files[i].name[0] == 0) {
            memset(&files[i], 0, sizeof files[i]);
            strncpy(files[i].name, name, sizeof files[i].name - 1);
            return &files[i];
        }
    }
    return NULL;
}

static void erase(DiskFile *file) {
    drop_writes(file);
    free(file->current.bytes);
    free(file->synced.bytes);
    memset(file, 0, sizeof *file);
}

// Counts an operation that changes the disk. Returns 0 if there is no power for it.
static int takes_place(void) {
    if (!has_power) return 0;
    operations++;
    if (cut_after > 0 && atomic_fetch_sub(&cut_after, 1) == 1) has_power = 0;
    return has_power;
}

static void add_write(DiskFile *file, const void *bytes, int64_t count, int64_t offset) {
    file->writes = realloc(file->writes, sizeof(Write) * (size_t)(file->write_count + 1));
    Write *write = &file->writes[file->write_count++];
    write->offset = offset;
    write->count = count;
    write->bytes = NULL;
    if (bytes) {
        write->bytes = malloc((size_t)count);
        memcpy(write->bytes, bytes, (size_t)count);
    }
}

typedef struct {
    sqlite3_file base;
    DiskFile *file;
} OpenFile;

static int file_close(sqlite3_file *base) { return SQLITE_OK; }

static int file_read(sqlite3_file *base, void *buffer, int count, sqlite3_int64 offset) {
    Content *content = &((OpenFile *)base)->file->current;
    if (!has_power) return SQLITE_IOERR_READ;
    if (offset + count <= content->size) {
        memcpy(buffer, content->bytes + offset, (size_t)count);
        return SQLITE_OK;
    }
    int64_t there = offset < content->size ? content->size - offset : 0;
    memset(buffer, 0, (size_t)count);
    if (there > 0) memcpy(buffer, content->bytes + offset, (size_t)there);
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    DiskFile *file = ((OpenFile *)base)->file;
    if (limit > 0 && offset + count > file->current.size) {
        int64_t sum = offset + count - file->current.size;
        for (int i = 0; i < FILE_COUNT; i++) sum += files[i].current.size;
        if (sum > limit) return SQLITE_FULL;
    }
    int had_power = has_power;
    int done = takes_place();
    // The power may fail within a write, which then is one of the writes that are dropped or torn.
    if (had_power) add_write(file, bytes, count, offset);
    if (!done) return SQLITE_IOERR_WRITE;
    content_write(&file->current, bytes, count, offset);
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    DiskFile *file = ((OpenFile *)base)->file;
    if (!takes_place()) return SQLITE_IOERR_TRUNCATE;
    add_write(file, NULL, 0, size);
    if (size < file->current.size) file->current.size = size;
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags) {
    DiskFile *file = ((OpenFile *)base)->file;
    if (sync_fails) return SQLITE_IOERR_FSYNC;
    if (!takes_place()) return SQLITE_IOERR_FSYNC;
    content_copy(&file->synced, &file->current);
    drop_writes(file);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    *size = ((OpenFile *)base)->file->current.size;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *base, int level) { return SQLITE_OK; }
static int file_unlock(sqlite3_file *base, int level) { return SQLITE_OK; }
static int file_check_lock(sqlite3_file *base, int *result) {
    *result = 0;
    return SQLITE_OK;
}
static int file_control(sqlite3_file *base, int operation, void *argument) { return SQLITE_NOTFOUND; }
static int file_sector(sqlite3_file *base) { return SECTOR; }
static int file_traits(sqlite3_file *base) { return 0; }

static const sqlite3_io_methods methods = {
    1, file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock, file_unlock,
    file_check_lock, file_control, file_sector, file_traits,
    NULL, NULL, NULL, NULL, NULL, NULL,
};

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *flags_out) {
    base->pMethods = NULL;
    if (!has_power || !path) return SQLITE_CANTOPEN;
    const char *name = short_name(path);
    DiskFile *file = find(name);
    if (!file && (flags & SQLITE_OPEN_CREATE)) file = create(name);
    if (!file) return SQLITE_CANTOPEN;
    ((OpenFile *)base)->file = file;
    base->pMethods = &methods;
    if (flags_out) *flags_out = flags;
    return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_folder) {
    if (!takes_place()) return SQLITE_IOERR_DELETE;
    DiskFile *file = find(short_name(path));
    if (!file) return SQLITE_IOERR_DELETE_NOENT;
    erase(file);
    return SQLITE_OK;
}

static int disk_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    *result = find(short_name(path)) != NULL;
    return SQLITE_OK;
}

static int disk_path(sqlite3_vfs *vfs, const char *path, int count, char *out) {
    sqlite3_snprintf(count, out, "/%s", short_name(path));
    return SQLITE_OK;
}

static int disk_random(sqlite3_vfs *vfs, int count, char *bytes) {
    for (int i = 0; i < count; i++) bytes[i] = (char)next_random();
    return count;
}

static int disk_sleep(sqlite3_vfs *vfs, int microseconds) { return microseconds; }

static int disk_time(sqlite3_vfs *vfs, double *time) {
    *time = 2460000.0;
    return SQLITE_OK;
}

static int disk_error(sqlite3_vfs *vfs, int count, char *text) { return 0; }

static sqlite3_vfs disk = {
    1, sizeof(OpenFile), 128, NULL, "faulty", NULL, disk_open, disk_delete, disk_access, disk_path,
    NULL, NULL, NULL, NULL, disk_random, disk_sleep, disk_time, disk_error,
};

int faulty_disk_register(void) { return sqlite3_vfs_register(&disk, 0); }

void faulty_disk_reset(uint64_t seed) {
    for (int i = 0; i < FILE_COUNT; i++) erase(&files[i]);
    random_state = seed * 0x9E3779B97F4A7C15ULL + 1;
    cut_after = 0;
    has_power = 1;
    operations = 0;
    limit = 0;
    sync_fails = 0;
}

void faulty_disk_cut_power_after(int count) { cut_after = count; }
int faulty_disk_has_power(void) { return has_power; }
long faulty_disk_operations(void) { return operations; }
void faulty_disk_limit(int64_t bytes) { limit = bytes; }
void faulty_disk_fail_synchronizations(int fails) { sync_fails = fails; }

// Applies one write that was underway, or not yet on the disk, when the power failed.
static void survive(DiskFile *file, const Write *write) {
    if (!write->bytes) {
        if (next_random() % 2 && write->offset < file->synced.size) file->synced.size = write->offset;
        return;
    }
    switch (next_random() % 4) {
    case 0: return;  // Dropped.
    case 1: {        // Torn: each sector is on the disk or is not.
        for (int64_t start = 0; start < write->count; start += SECTOR) {
            int64_t count = write->count - start < SECTOR ? write->count - start : SECTOR;
            if (next_random() % 2) content_write(&file->synced, write->bytes + start, count, write->offset + start);
        }
        return;
    }
    default: content_write(&file->synced, write->bytes, write->count, write->offset);
    }
}

void faulty_disk_restore_power(void) {
    for (int i = 0; i < FILE_COUNT; i++) {
        DiskFile *file = &files[i];
        if (file->name[0] == 0) continue;
        for (int w = 0; w < file->write_count; w++) survive(file, &file->writes[w]);
        drop_writes(file);
        content_copy(&file->current, &file->synced);
    }
    cut_after = 0;
    has_power = 1;
}

int faulty_disk_delete(const char *name) {
    DiskFile *file = find(name);
    if (file) erase(file);
    return file != NULL;
}

int faulty_disk_overwrite(const char *name, int64_t offset, int64_t count) {
    DiskFile *file = find(name);
    if (!file) return 0;
    for (int64_t i = offset; i < offset + count && i < file->current.size; i++) {
        file->current.bytes[i] = (char)0xAA;
        if (i < file->synced.size) file->synced.bytes[i] = (char)0xAA;
    }
    return 1;
}

#endif
