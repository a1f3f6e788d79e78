#include "faultydisk.h"

// Without the trait `Durable`, the package needs no SQLite, and nothing uses the disk.
#if __has_include(<sqlite3.h>)

#include <limits.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAME_SIZE = 4096, SECTOR = 512 };

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
    char name[NAME_SIZE];
    Content current;  // The content that a reader gets.
    Content synced;   // The content on the disk, without `writes`.
    Write *writes;
    int write_count;
    // The open file that has locked this file, and the number of its process; NULL if none has.
    const void *owner;
    int owner_process;
} DiskFile;

struct faulty_disk {
    sqlite3_vfs vfs;
    char name[32];
    // Each file keeps its address, because open files refer to it. A deleted file has an empty name.
    DiskFile **files;
    int file_count;
    uint64_t random_state;
    // The number of the running process. The files that an earlier process has opened fail.
    atomic_int process;
    int open_files;
    // Whether the disk is freed when its last file is closed.
    int is_destroyed;
    // A caller changes and reads these while the thread of a store uses the disk.
    atomic_int cut_after;
    atomic_int has_power;
    atomic_long operations;
    _Atomic int64_t limit;
    atomic_int sync_fails;
};

static uint64_t next_random(faulty_disk *disk) {
    disk->random_state ^= disk->random_state << 13;
    disk->random_state ^= disk->random_state >> 7;
    disk->random_state ^= disk->random_state << 17;
    return disk->random_state;
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

static DiskFile *find(faulty_disk *disk, const char *name) {
    for (int i = 0; i < disk->file_count; i++) {
        if (strcmp(disk->files[i]->name, name) == 0) return disk->files[i];
    }
    return NULL;
}

static DiskFile *create(faulty_disk *disk, const char *name) {
    DiskFile *file = find(disk, "");
    if (!file) {
        file = malloc(sizeof *file);
        disk->files = realloc(disk->files, sizeof(DiskFile *) * (size_t)(disk->file_count + 1));
        disk->files[disk->file_count++] = file;
    }
    memset(file, 0, sizeof *file);
    strncpy(file->name, name, sizeof file->name - 1);
    return file;
}

static void erase(DiskFile *file) {
    drop_writes(file);
    free(file->current.bytes);
    free(file->synced.bytes);
    memset(file, 0, sizeof *file);
}

// Counts an operation that changes the disk. Returns 0 if the disk has no power, or loses it in this
// operation.
static int takes_place(faulty_disk *disk) {
    if (!disk->has_power) return 0;
    disk->operations++;
    if (disk->cut_after > 0 && atomic_fetch_sub(&disk->cut_after, 1) == 1) disk->has_power = 0;
    return disk->has_power;
}

static void erase_all(faulty_disk *disk) {
    for (int i = 0; i < disk->file_count; i++) erase(disk->files[i]);
}

static void free_if_unused(faulty_disk *disk) {
    if (!disk->is_destroyed || disk->open_files > 0) return;
    for (int i = 0; i < disk->file_count; i++) free(disk->files[i]);
    free(disk->files);
    free(disk);
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
    faulty_disk *disk;
    DiskFile *file;
    int process;
} OpenFile;

// Returns whether the process that has opened a file still runs and the disk has power.
static int is_usable(const OpenFile *open) {
    return open->disk->has_power && open->process == open->disk->process;
}

static int file_close(sqlite3_file *base) {
    OpenFile *open = (OpenFile *)base;
    faulty_disk *disk = open->disk;
    if (open->file->owner == open) open->file->owner = NULL;
    disk->open_files--;
    free_if_unused(disk);
    return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *buffer, int count, sqlite3_int64 offset) {
    OpenFile *open = (OpenFile *)base;
    if (!is_usable(open)) return SQLITE_IOERR_READ;
    Content *content = &open->file->current;
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
    OpenFile *open = (OpenFile *)base;
    if (!is_usable(open)) return SQLITE_IOERR_WRITE;
    faulty_disk *disk = open->disk;
    DiskFile *file = open->file;
    if (disk->limit > 0 && offset + count > file->current.size) {
        int64_t sum = offset + count - file->current.size;
        for (int i = 0; i < disk->file_count; i++) sum += disk->files[i]->current.size;
        if (sum > disk->limit) return SQLITE_FULL;
    }
    int done = takes_place(disk);
    // A write during which the power fails is recorded too, so it may be kept, dropped or torn.
    add_write(file, bytes, count, offset);
    if (!done) return SQLITE_IOERR_WRITE;
    content_write(&file->current, bytes, count, offset);
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    OpenFile *open = (OpenFile *)base;
    if (!is_usable(open) || !takes_place(open->disk)) return SQLITE_IOERR_TRUNCATE;
    DiskFile *file = open->file;
    add_write(file, NULL, 0, size);
    if (size < file->current.size) file->current.size = size;
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags) {
    OpenFile *open = (OpenFile *)base;
    if (open->disk->sync_fails || !is_usable(open) || !takes_place(open->disk)) return SQLITE_IOERR_FSYNC;
    content_copy(&open->file->synced, &open->file->current);
    drop_writes(open->file);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    OpenFile *open = (OpenFile *)base;
    if (!is_usable(open)) return SQLITE_IOERR_FSTAT;
    *size = open->file->current.size;
    return SQLITE_OK;
}

// Returns whether another open file has locked a file. The locks of a process end with the process.
static int is_locked_by_another(const OpenFile *open) {
    const DiskFile *file = open->file;
    return file->owner && file->owner != open && file->owner_process == open->disk->process;
}

// Locks a file for writing. A store locks its file as long as the file is open, so locks for reading are not
// counted.
static int file_lock(sqlite3_file *base, int level) {
    OpenFile *open = (OpenFile *)base;
    if (!is_usable(open)) return SQLITE_IOERR_LOCK;
    if (is_locked_by_another(open)) return SQLITE_BUSY;
    if (level > SQLITE_LOCK_SHARED) {
        open->file->owner = open;
        open->file->owner_process = open->process;
    }
    return SQLITE_OK;
}

static int file_unlock(sqlite3_file *base, int level) {
    OpenFile *open = (OpenFile *)base;
    if (level <= SQLITE_LOCK_SHARED && open->file->owner == open) open->file->owner = NULL;
    return SQLITE_OK;
}

static int file_check_lock(sqlite3_file *base, int *result) {
    *result = is_locked_by_another((OpenFile *)base);
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
    faulty_disk *disk = vfs->pAppData;
    base->pMethods = NULL;
    if (!disk->has_power || !path || strlen(path) >= NAME_SIZE) return SQLITE_CANTOPEN;
    DiskFile *file = find(disk, path);
    if (!file && (flags & SQLITE_OPEN_CREATE)) file = create(disk, path);
    if (!file) return SQLITE_CANTOPEN;
    OpenFile *open = (OpenFile *)base;
    open->disk = disk;
    open->file = file;
    open->process = disk->process;
    disk->open_files++;
    base->pMethods = &methods;
    if (flags_out) *flags_out = flags;
    return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_folder) {
    faulty_disk *disk = vfs->pAppData;
    if (!takes_place(disk)) return SQLITE_IOERR_DELETE;
    DiskFile *file = find(disk, path);
    if (!file) return SQLITE_IOERR_DELETE_NOENT;
    erase(file);
    return SQLITE_OK;
}

static int disk_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    *result = find(vfs->pAppData, path) != NULL;
    return SQLITE_OK;
}

// Removes `./` and `//`, which do not change the file of a path.
static int disk_path(sqlite3_vfs *vfs, const char *path, int count, char *out) {
    int length = 0;
    for (const char *rest = path; *rest && length < count - 1;) {
        int begins = rest == path || rest[-1] == '/';
        if (begins && rest[0] == '.' && rest[1] == '/') {
            rest += 2;
        } else if (begins && rest > path && rest[0] == '/') {
            rest += 1;
        } else {
            out[length++] = *rest++;
        }
    }
    out[length] = 0;
    return SQLITE_OK;
}

static int disk_random(sqlite3_vfs *vfs, int count, char *bytes) {
    for (int i = 0; i < count; i++) bytes[i] = (char)next_random(vfs->pAppData);
    return count;
}

static int disk_sleep(sqlite3_vfs *vfs, int microseconds) { return microseconds; }

// Returns the time in milliseconds of the Julian day number. In a simulation, the clock has simulated time.
static int disk_time(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    const sqlite3_int64 start_of_1970 = 210866760000000;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *time = start_of_1970 + (sqlite3_int64)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    return SQLITE_OK;
}

static int disk_error(sqlite3_vfs *vfs, int count, char *text) { return 0; }

static void sql_random(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3_result_int64(context, (sqlite3_int64)next_random(sqlite3_user_data(context)));
}

static void sql_randomblob(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3_int64 size = sqlite3_value_int64(values[0]);
    if (size < 1) size = 1;
    if (size > INT_MAX) return sqlite3_result_error_toobig(context);
    char *bytes = sqlite3_malloc64((sqlite3_uint64)size);
    if (!bytes) return sqlite3_result_error_nomem(context);
    faulty_disk *disk = sqlite3_user_data(context);
    disk_random(&disk->vfs, (int)size, bytes);
    sqlite3_result_blob64(context, bytes, (sqlite3_uint64)size, sqlite3_free);
}

// Replaces the random functions of a connection to a faulty disk. SQLite would seed its own functions only
// once in a process.
__attribute__((unused)) static int seed_functions(sqlite3 *connection, char **error, const void *routines) {
    sqlite3_vfs *vfs = NULL;
    sqlite3_file_control(connection, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
    if (!vfs || vfs->xOpen != disk_open) return SQLITE_OK;
    int flags = SQLITE_UTF8 | SQLITE_INNOCUOUS;
    void *disk = vfs->pAppData;
    sqlite3_create_function(connection, "random", 0, flags, disk, sql_random, NULL, NULL);
    return sqlite3_create_function(connection, "randomblob", 1, flags, disk, sql_randomblob, NULL, NULL);
}

faulty_disk *faulty_disk_create(uint64_t seed) {
    static atomic_int count;
    faulty_disk *disk = calloc(1, sizeof *disk);
    snprintf(disk->name, sizeof disk->name, "waybill-disk-%d", atomic_fetch_add(&count, 1));
    disk->vfs = (sqlite3_vfs){
        2, sizeof(OpenFile), NAME_SIZE, NULL, disk->name, disk, disk_open, disk_delete, disk_access, disk_path,
        NULL, NULL, NULL, NULL, disk_random, disk_sleep, NULL, disk_error, disk_time,
    };
    faulty_disk_reset(disk, seed);
#if !defined(__APPLE__)
    // SQLite calls this function for each new connection of the process, and keeps it only once. The SQLite
    // of macOS rejects such functions.
    sqlite3_auto_extension((void (*)(void))seed_functions);
#endif
    if (sqlite3_vfs_register(&disk->vfs, 0) == SQLITE_OK) return disk;
    free(disk);
    return NULL;
}

void faulty_disk_destroy(faulty_disk *disk) {
    sqlite3_vfs_unregister(&disk->vfs);
    disk->has_power = 0;
    erase_all(disk);
    disk->is_destroyed = 1;
    free_if_unused(disk);
}

const char *faulty_disk_name(const faulty_disk *disk) { return disk->name; }

void faulty_disk_reset(faulty_disk *disk, uint64_t seed) {
    erase_all(disk);
    disk->random_state = seed * 0x9E3779B97F4A7C15ULL + 1;
    disk->cut_after = 0;
    disk->has_power = 1;
    disk->operations = 0;
    disk->limit = 0;
    disk->sync_fails = 0;
}

void faulty_disk_cut_power_after(faulty_disk *disk, int count) { disk->cut_after = count; }
int faulty_disk_has_power(const faulty_disk *disk) { return disk->has_power; }
long faulty_disk_operations(const faulty_disk *disk) { return disk->operations; }
void faulty_disk_limit(faulty_disk *disk, int64_t bytes) { disk->limit = bytes; }
void faulty_disk_fail_synchronizations(faulty_disk *disk, int fails) { disk->sync_fails = fails; }

void faulty_disk_turn_off(faulty_disk *disk) {
    disk->has_power = 0;
    disk->process++;
}

void faulty_disk_turn_on(faulty_disk *disk) {
    disk->cut_after = 0;
    disk->has_power = 1;
}

// Keeps, drops or tears a write that was not synchronized when the power failed.
static void survive(faulty_disk *disk, DiskFile *file, const Write *write) {
    if (!write->bytes) {
        if (next_random(disk) % 2 && write->offset < file->synced.size) file->synced.size = write->offset;
        return;
    }
    switch (next_random(disk) % 4) {
    case 0: return;  // Dropped.
    case 1: {        // Torn: each sector is on the disk or is not.
        for (int64_t start = 0; start < write->count; start += SECTOR) {
            int64_t count = write->count - start < SECTOR ? write->count - start : SECTOR;
            if (next_random(disk) % 2) content_write(&file->synced, write->bytes + start, count, write->offset + start);
        }
        return;
    }
    default: content_write(&file->synced, write->bytes, write->count, write->offset);
    }
}

void faulty_disk_restore_power(faulty_disk *disk) {
    for (int i = 0; i < disk->file_count; i++) {
        DiskFile *file = disk->files[i];
        // The processes that had locked the file have ended.
        file->owner = NULL;
        if (file->name[0] == 0) continue;
        for (int w = 0; w < file->write_count; w++) survive(disk, file, &file->writes[w]);
        drop_writes(file);
        content_copy(&file->current, &file->synced);
    }
    faulty_disk_turn_on(disk);
}

int faulty_disk_delete(faulty_disk *disk, const char *name) {
    DiskFile *file = find(disk, name);
    if (file) erase(file);
    return file != NULL;
}

int faulty_disk_overwrite(faulty_disk *disk, const char *name, int64_t offset, int64_t count) {
    DiskFile *file = find(disk, name);
    if (!file) return 0;
    for (int64_t i = offset; i < offset + count && i < file->current.size; i++) {
        file->current.bytes[i] = (char)0xAA;
        if (i < file->synced.size) file->synced.bytes[i] = (char)0xAA;
    }
    return 1;
}

#endif
