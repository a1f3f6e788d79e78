#ifndef WAYBILL_FAULTY_DISK_H
#define WAYBILL_FAULTY_DISK_H

#include <stdint.h>

// A disk in memory, as a file system of SQLite, that can lose power and report failures.
//
// The disk keeps all synchronized writes. After a power cut, random numbers from a seed decide whether each
// later write to a file is kept, dropped, or torn.
//
// SQLite may use a disk on one thread at a time. At any time, other threads may call the functions
// that return a state, cut the power, limit the bytes, or make synchronizations fail. SQLite must not use the
// disk during a call of any other function.
typedef struct faulty_disk faulty_disk;

// Creates an empty disk, and registers it with SQLite. Returns NULL if SQLite refuses it.
//
// seed: Determines what happens to writes that were not synchronized.
faulty_disk *_Nullable faulty_disk_create(uint64_t seed);

// Deletes all files. The memory of the disk is freed when SQLite has closed the last one.
void faulty_disk_destroy(faulty_disk *_Nonnull disk);

// Returns the name of the file system for SQLite.
const char *_Nonnull faulty_disk_name(const faulty_disk *_Nonnull disk);

// Deletes all files, and sets the seed of the random numbers.
void faulty_disk_reset(faulty_disk *_Nonnull disk, uint64_t seed);

// Cuts the power before the operation with this number from now, counted from 1; 0 for never.
void faulty_disk_cut_power_after(faulty_disk *_Nonnull disk, int operations);

// Returns whether the disk has power. Without power, each operation fails.
int faulty_disk_has_power(const faulty_disk *_Nonnull disk);

// Restores the power. The files then contain the data that the disk kept during the power cut.
void faulty_disk_restore_power(faulty_disk *_Nonnull disk);

// Makes each operation fail until the disk is turned on. The files that are open now fail for ever, as if
// their process had ended.
void faulty_disk_turn_off(faulty_disk *_Nonnull disk);

// Turns the disk on again, with all writes, as the system keeps them when a process ends.
void faulty_disk_turn_on(faulty_disk *_Nonnull disk);

// Returns the number of writes, synchronizations, truncations and deletions since the reset.
long faulty_disk_operations(const faulty_disk *_Nonnull disk);

// Limits the bytes of all files; 0 for no limit. Writes beyond the limit fail as on a full disk.
void faulty_disk_limit(faulty_disk *_Nonnull disk, int64_t bytes);

// Makes each synchronization fail (1) or succeed (0).
void faulty_disk_fail_synchronizations(faulty_disk *_Nonnull disk, int fails);

// Deletes a file, as a person does. Returns 1 if it existed.
int faulty_disk_delete(faulty_disk *_Nonnull disk, const char *_Nonnull name);

// Overwrites bytes of a file with 0xAA, without the knowledge of SQLite. Returns 1 if the file existed.
int faulty_disk_overwrite(faulty_disk *_Nonnull disk, const char *_Nonnull name, int64_t offset, int64_t count);

#endif
