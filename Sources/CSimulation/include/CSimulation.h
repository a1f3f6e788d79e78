#ifndef WAYBILL_CSIMULATION_H
#define WAYBILL_CSIMULATION_H

#include <stdint.h>

// The parts of a simulation that need C: a hook of the Swift runtime for the jobs that no executor of the
// simulation gets, and, on Linux, the system's time and random numbers on the thread of a simulation.
//
// On Linux, a program that contains CSimulation.c calls its functions `clock_gettime`, `gettimeofday`, `time`
// and `syscall`, so `Date()`, `ContinuousClock.now`, `Task.sleep` and `Int.random(in:)` follow the
// simulation. On a thread that is not in a simulation, they call the functions of the C library.

// Receives a job that the calling thread has enqueued. The function takes over the job.
typedef void (*waybill_job_receiver)(void *_Nonnull context, void *_Nonnull job);

// Makes the calling thread the thread of a simulation, until `waybill_leave_simulation` is called.
//
// receiver: Receives the jobs that the thread enqueues for the default executor.
// context: The first argument of the receiver.
// seed: Determines the random numbers of the system.
// time: The system's time in nanoseconds, which stands still until `waybill_set_time` is called.
void waybill_enter_simulation(
    waybill_job_receiver _Nonnull receiver, void *_Nonnull context, uint64_t seed, int64_t time
);

// Ends the simulation of the calling thread.
void waybill_leave_simulation(void);

// Sets the system's time on the calling thread, in nanoseconds.
void waybill_set_time(int64_t time);

// Returns the function with which a suspended job continues, or NULL if the job is not a task.
//
// waybill_symbol_name returns its name.
void *_Nullable waybill_job_function(void *_Nonnull job);

// Returns the number of a task, which no other task of the process has; 0 if the job is not a task.
uint32_t waybill_task_number(void *_Nonnull job);

// Returns the mangled name of the function at an address, or NULL if it is not known.
const char *_Nullable waybill_symbol_name(const void *_Nullable function);

#endif
