// A Waybill message bus for programs in C, and in every language that can call C.
//
// Values are JSON: UTF-8 text with its length, without a terminating zero. The library copies the arguments
// of a call before the call returns. The arguments of a callback are valid until the callback returns. The
// interface contains no Swift types.
//
// A bus belongs to the thread that created it. This thread must run the loop of the bus and make all calls.
// All callbacks run on this thread. Any thread may call waybill_reply and waybill_fail, and may read a valid
// message with the functions waybill_message_*. A thread can have several buses. Only functions of the
// program receive the messages of a bus.
//
// The library never reads a `context`. The program may free the context of a completion when the completion
// has been called, and the context of a handler or subscriber when waybill_cancel with its ID has returned or
// when `closed` has been called.
//
// A program that uses libuv must link it dynamically, so that the program and the library use one copy of
// libuv. After fork(), the child process must not use a bus of its parent. The library logs a warning to
// standard error when a message of waybill_send fails, or one of waybill_publish without `done`.

#ifndef WAYBILL_H
#define WAYBILL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of this interface. The number grows when a function is added. A program checks that
// waybill_abi_version(), the version of the library, is at least the number in the header.
#define WAYBILL_ABI_VERSION 1

// The status of a call or a message. New numbers may be added, and existing numbers never change.
enum {
    WAYBILL_OK = 0,
    // Errors that are found before the bus handles the call.
    WAYBILL_INVALID_ARGUMENT = -1,  // a null pointer, or text that is not UTF-8 or is refused as JSON
    WAYBILL_WRONG_THREAD = -2,      // the calling thread is not the thread of the bus
    // Errors of the bus. RoutingError.Code in the Swift library documents them.
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
    WAYBILL_OTHER = -99,  // an error for which this header has no number
};

typedef struct waybill_bus waybill_bus;
typedef struct waybill_message waybill_message;

// JSON text. A length of 0 means no value: null in a reply, and no parameters in a message. The pointer may
// then be null. These values are WAYBILL_INVALID_ARGUMENT: a null pointer with another length, a length above
// PTRDIFF_MAX, text that is not JSON in UTF-8, arrays and objects that are nested more than 64 levels deep,
// and a string with more than 30 combining marks in a row.
typedef struct {
    const char *json;
    size_t length;
} waybill_value;

// The outcome of a call. `status` is WAYBILL_OK, and `value` is the value of the reply, or `status` is
// another number, and `error` is an error message. `error` is null for WAYBILL_OK. If a handler called
// waybill_fail, `error` is the text of the handler. The value of waybill_publish is the number of subscribers
// that received the message.
typedef struct {
    int status;
    waybill_value value;
    const char *error;
} waybill_outcome;

// Handles a message. For each message, the handler must call waybill_reply or waybill_fail once, now or
// later, from any thread. The message is valid until that call, even when the message's caller has stopped
// waiting or the bus has closed.
//
// A call that begins before the handler returns inherits the deadline of the handler's message, and fails
// with WAYBILL_HOP_LIMIT_EXCEEDED after 16 messages that caused one another. Calls that begin in a subscriber
// inherit in the same way. Calls that begin elsewhere, for example in a completion, inherit nothing.
typedef void (*waybill_handler)(void *context, waybill_message *message);

// Receives a published message. The message is valid until this function returns. The function cannot reply:
// waybill_reply and waybill_fail return WAYBILL_INVALID_ARGUMENT.
typedef void (*waybill_subscriber)(void *context, const waybill_message *message);

// Called once when a call has its outcome, and never before the function that began the call has returned.
typedef void (*waybill_completion)(void *context, const waybill_outcome *outcome);

// Called once when a bus has closed. The pointer to the bus is no longer valid.
typedef void (*waybill_closed)(void *context);

int waybill_abi_version(void);

// Returns the name of a status, such as "noRoute". The result is never null.
const char *waybill_status_name(int status);

// ---- The loop ---------------------------------------------------------------------------------------------

// Creates a bus on a libuv loop of the program. `uv_loop` is the address of a uv_loop_t that the calling
// thread runs. The bus keeps uv_run from returning only while a call is pending, while a callback is due, or
// while a handler has not completed a message of waybill_send. Returns null for a null pointer, or when the
// system has no file descriptor left.
waybill_bus *waybill_adopt(void *uv_loop);

// Creates a bus for a program without libuv. The program polls waybill_fd for reading, for at most
// waybill_timeout milliseconds, and then calls waybill_dispatch. Returns null when the system has no file
// descriptor left.
waybill_bus *waybill_create(void);

// Returns the descriptor to poll for reading, or -1 for a bus on the program's uv_loop_t. The descriptor does
// not change while the bus exists. The program must not read from the descriptor.
int waybill_fd(const waybill_bus *bus);

// Returns the maximum number of milliseconds for which the program may poll: 0 when it must not wait, and -1
// when it may wait for any time. Call this function before each poll, because every call may change the
// result. A result below -1 is the status of an error: WAYBILL_WRONG_THREAD on another thread than the
// thread of the bus, and WAYBILL_REFUSED for a null pointer or for a bus on the program's uv_loop_t.
int waybill_timeout(const waybill_bus *bus);

// Runs the callbacks that are due, without waiting. Within a callback of the same bus, this function does
// nothing and returns WAYBILL_REFUSED. Returns WAYBILL_WRONG_THREAD on another thread than the thread of the
// bus, and WAYBILL_INVALID_ARGUMENT for a null pointer or for a bus on the program's uv_loop_t.
int waybill_dispatch(waybill_bus *bus);

// Begins to close a bus. Pending calls fail with WAYBILL_SHUT_DOWN, unless their handlers have replied
// already. New calls, registrations and messages fail in the same way. All completions are called before
// `closed`. The program must continue to run or dispatch its loop until `closed` is called. After that, and
// once uv_run has returned, the program can close its uv_loop_t. `closed` may be null. A bus that is closing
// cannot be closed again: the second call returns WAYBILL_SHUT_DOWN, and the `closed` function of the second
// call is not called.
int waybill_close(waybill_bus *bus, waybill_closed closed, void *context);

// ---- Messages ---------------------------------------------------------------------------------------------

// Registers a handler for the URLs that match a pattern. `id` receives an ID for waybill_cancel, and may be
// null.
int waybill_register(waybill_bus *bus, const char *pattern, waybill_handler handler, void *context,
                     uint64_t *id);

// Registers a subscriber for the published messages whose URLs match a pattern.
int waybill_subscribe(waybill_bus *bus, const char *pattern, waybill_subscriber subscriber, void *context,
                      uint64_t *id);

// Sends a message, and calls `done` with the reply. `parameters` is a JSON object. `timeout` is in
// milliseconds, and a negative number means no timeout. The message is sent in the next turn of the loop, and
// the timeout begins then. The loop begins calls of waybill_route and waybill_publish in the order in which
// the program made them. waybill_send sends at once, and so overtakes these calls.
int waybill_route(waybill_bus *bus, const char *url, waybill_value parameters, int64_t timeout,
                  waybill_completion done, void *context, uint64_t *id);

// Sends a message without waiting for a reply. Returns the reason if the message did not reach the queue of a
// handler, for example WAYBILL_NO_ROUTE, WAYBILL_INVALID_URL or WAYBILL_MAILBOX_FULL. The queue of a bus has
// room for 1,024 messages. A failure after that is only logged.
int waybill_send(waybill_bus *bus, const char *url, waybill_value parameters);

// Publishes a message to all subscribers. `done` may be null; the bus then logs a failure.
int waybill_publish(waybill_bus *bus, const char *url, waybill_value parameters, waybill_completion done,
                    void *context);

// Removes the handler or the subscriber that has an ID, or cancels the call that has the ID. The function of
// the handler or subscriber is not called again. Callers that wait for the handler fail with
// WAYBILL_NO_HANDLER, even if the handler has replied since the last turn of the loop. A cancelled call fails
// with WAYBILL_CANCELLED, and its message is not delivered if it has not been sent yet. An ID that is no
// longer in use is not an error.
int waybill_cancel(waybill_bus *bus, uint64_t id);

// Returns the error message of the last call on the bus that did not return WAYBILL_OK. The message is valid
// until the next call. waybill_timeout, waybill_dispatch, waybill_reply, waybill_fail and calls on another
// thread store no message. The result is never null: on another thread than the thread of the bus, and for a
// null pointer, the function returns a constant text about this error.
const char *waybill_error(const waybill_bus *bus);

// Returns the URL of a message.
const char *waybill_message_url(const waybill_message *message);

// Returns the parameters of a message, as a JSON object. The values from the path and the query are strings.
waybill_value waybill_message_parameters(const waybill_message *message);

// Returns the payload of a message, for example the value that a handler sends to a return URL. The result
// has no value when the message does not have a payload.
waybill_value waybill_message_payload(const waybill_message *message);

// Replies to a message with a value. If the value is invalid, returns WAYBILL_INVALID_ARGUMENT, and the
// message fails: its caller receives WAYBILL_HANDLER_FAILED with the reason. The message is completed in both
// cases, and its pointer is no longer valid.
int waybill_reply(waybill_message *message, waybill_value value);

// Fails a message. The message's caller receives WAYBILL_HANDLER_FAILED with the text. If the text is null or
// not UTF-8, returns WAYBILL_INVALID_ARGUMENT, and the caller receives another text. The message is completed
// in both cases, and its pointer is no longer valid. The text can have any length. Logs contain its first
// 1,000 characters.
int waybill_fail(waybill_message *message, const char *text);

#ifdef __cplusplus
}
#endif

#endif
