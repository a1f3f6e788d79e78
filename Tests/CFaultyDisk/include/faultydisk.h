#ifndef WAYBILL_FAULTY_DISK_H
#define WAYBILL_FAULTY_DISK_H

#include <stdint.h>

// A disk in memory, as a file system of SQLite, that can lose power and report failures.
//
// The disk keeps what was synchronized. When the power is cut, each write since the last synchronization of its
// file is kept, dropped, or torn, as random numbers from a seed decide.
//
// One thread may use a disk at a time. The functions on the disk may be called while no file of it is in use.

// Registers the file system "faulty". Returns 0, or the error of SQLite.
int faulty_disk_register(void);

// Deletes all files, and sets the seed of the random numbers.
void faulty_disk_reset(uint64_t seed);

// Cuts the power before the operation with this number from now, counted from 1; 0 for never.
void faulty_disk_cut_power_after(int operations);

// Whether the power was cut, so that each operation fails.
int faulty_disk_has_power(void);

// Restores the power, with the files as the disk has kept them.
void faulty_disk_restore_power(void);

// The number of writes, synchronizations and truncations since the reset.
long faulty_disk_operations(void);

// Limits the bytes of all files; 0 for no limit. Writes beyond the limit fail as on a full disk.
void faulty_disk_limit(int64_t bytes);

// Makes each synchronization fail (1) or succeed (0).
void faulty_disk_fail_synchronizations(int fails);

// Deletes a file, as a person does. Returns 1 if it existed.
int faulty_disk_delete(const char *name);

// Overwrites bytes of a file with 0xAA, beyond the knowledge of SQLite. Returns 1 if the file existed.
int faulty_disk_overwrite(const char *name, int64_t offset, int64_t count);

#endif
