// A Waybill message bus for programs in C, and in every language that calls C.
//
// Values are JSON: UTF-8 text with its length, without a terminating zero. The library copies what it is
// given before a call returns; what it gives to a callback is valid until the callback returns. No Swift type
// crosses.
//
// A bus belongs to the thread that made it: that thread drives its loop, makes all calls, and gets all
// callbacks. Only waybill_reply and waybill_fail may be called from any thread.

#ifndef WAYBILL_H
#define WAYBILL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of this interface. It grows when a function is added, and the library answers it with
// waybill_abi_version(); a program compares: the library's must not be the smaller.
#define WAYBILL_ABI_VERSION 1

// What a call or a message came to. Numbers are added, and never change.
enum {
    WAYBILL_OK = 0,
    // The call could not be made.
    WAYBILL_INVALID_ARGUMENT = -1,  // a null pointer, or text that is not UTF-8 or not JSON
    WAYBILL_WRONG_THREAD = -2,      // the calling thread is not the bus's
    WAYBILL_SYSTEM = -3,            // the system has no memory or file descriptor left
    // Codes of the bus, as RoutingError.Code has them.
    WAYBILL_INVALID_URL = -10,
    WAYBILL_INVALID_PATTERN = -11,
    WAYBILL_CONFLICT = -12,
    WAYBILL_NO_ROUTE = -13,
    WAYBILL_NO_HANDLER = -14,
    WAYBILL_REFUSED = -15,
    WAYBILL_MISSING_PARAMETER = -16,
    WAYBILL_INVALID_PARAMETER = -17,
    WAYBILL_TYPE_MISMATCH = -18,
    WAYBILL_HANDLER_FAILED = -19,
    WAYBILL_DEADLINE_EXCEEDED = -20,
    WAYBILL_CANCELLED = -21,
    WAYBILL_MAILBOX_FULL = -22,
    WAYBILL_DEADLOCK = -23,
    WAYBILL_HOP_LIMIT_EXCEEDED = -24,
    WAYBILL_NOT_TRANSFERABLE = -25,
    WAYBILL_UNREACHABLE = -26,
    WAYBILL_SHUT_DOWN = -27,
    WAYBILL_INFINITE_RECURSION = -28,
    WAYBILL_OTHER = -99,  // a code that is newer than this header
};

typedef struct waybill_bus waybill_bus;
typedef struct waybill_message waybill_message;

// JSON text. Null, or a length of 0, is no value: null for a reply, no parameters for a message.
typedef struct {
    const char *json;
    size_t length;
} waybill_value;

// How a call ended: WAYBILL_OK with the reply's value (of waybill_publish: the number of subscribers that
// took the message), or another status with a sentence for a person in `error`, which is null otherwise.
typedef struct {
    int status;
    waybill_value value;
    const char *error;
} waybill_outcome;

// Handles a message, which it has to end: with waybill_reply or waybill_fail, once, now or later, from any
// thread. The message is valid until then, also if its caller has given up meanwhile.
typedef void (*waybill_handler)(void *context, waybill_message *message);

// Sees a message that was published; the message is valid until this returns, and takes no reply.
typedef void (*waybill_subscriber)(void *context, const waybill_message *message);

// Called once when a call has ended, and never before the function has returned that began it.
typedef void (*waybill_completion)(void *context, const waybill_outcome *outcome);

// Called once when a bus has closed; the pointer to it is no longer valid.
typedef void (*waybill_closed)(void *context);

int waybill_abi_version(void);

// The name of a status, as "noRoute"; never null.
const char *waybill_status_name(int status);

// ---- The loop ---------------------------------------------------------------------------------------------

// Makes a bus on a loop of libuv that the host runs: `uv_loop` is the address of its uv_loop_t, which the
// calling thread runs. The bus keeps uv_run from returning while calls are pending or something is due, and
// not otherwise. Null if the system has no file descriptor left.
waybill_bus *waybill_adopt(void *uv_loop);

// Makes a bus for a host without libuv, which polls waybill_fd for reading, for waybill_timeout milliseconds
// at most, and then calls waybill_dispatch. Null if the system has no file descriptor left.
waybill_bus *waybill_create(void);

// The descriptor to poll for reading; -1 for a bus on the host's uv_loop_t. It is the same for as long as the
// bus lives, and is not to be read.
int waybill_fd(const waybill_bus *bus);

// For how many milliseconds the host may poll: 0 for not at all, -1 for any time. Ask before each poll: every
// call may change it.
int waybill_timeout(const waybill_bus *bus);

// Does what is due, without waiting, and calls what has to be called.
int waybill_dispatch(waybill_bus *bus);

// Begins to end a bus: callers fail with WAYBILL_SHUT_DOWN. The host goes on to run or dispatch its loop
// until `closed` is called, which may be null; a host on a uv_loop_t can close that then, after uv_run has
// returned. A bus that is being closed cannot be closed again: the second call returns WAYBILL_SHUT_DOWN, and
// its `closed` is not called.
int waybill_close(waybill_bus *bus, waybill_closed closed, void *context);

// ---- Messages ---------------------------------------------------------------------------------------------

// Has a callback handle the URLs of a pattern. `id`, which may be null, is for waybill_cancel.
int waybill_register(waybill_bus *bus, const char *pattern, waybill_handler handler, void *context,
                     uint64_t *id);

// Has a callback see the messages that are published to a pattern.
int waybill_subscribe(waybill_bus *bus, const char *pattern, waybill_subscriber subscriber, void *context,
                      uint64_t *id);

// Routes a message and has `done` called with the reply. `parameters` is an object; `timeout` in
// milliseconds, negative for none.
int waybill_route(waybill_bus *bus, const char *url, waybill_value parameters, int64_t timeout,
                  waybill_completion done, void *context, uint64_t *id);

// Sends a message whose reply is not awaited.
int waybill_send(waybill_bus *bus, const char *url, waybill_value parameters);

// Gives a message to every subscriber; `done` may be null.
int waybill_publish(waybill_bus *bus, const char *url, waybill_value parameters, waybill_completion done,
                    void *context);

// Ends what has an ID: takes out a handler or a subscriber, or gives up a call, which then ends with
// WAYBILL_CANCELLED. An ID of something that has ended is no error.
int waybill_cancel(waybill_bus *bus, uint64_t id);

// The sentence about the last call on the bus that did not return WAYBILL_OK; valid until the next call.
const char *waybill_error(const waybill_bus *bus);

// The URL of a message.
const char *waybill_message_url(const waybill_message *message);

// The parameters of a message, as an object: those of the path and the query are text.
waybill_value waybill_message_parameters(const waybill_message *message);

// What a message to a return URL carries; no value for any other.
waybill_value waybill_message_payload(const waybill_message *message);

// Ends a message with a value. WAYBILL_INVALID_ARGUMENT, and the message is not ended, if it is no JSON.
int waybill_reply(waybill_message *message, waybill_value value);

// Ends a message with a failure: its caller gets WAYBILL_HANDLER_FAILED with the text.
int waybill_fail(waybill_message *message, const char *text);

#ifdef __cplusplus
}
#endif

#endif
