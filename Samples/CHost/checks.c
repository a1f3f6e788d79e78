// Checks the errors, the limits and the order of the interface, with two buses on one thread.
//
// Each check runs twice: with buses of waybill_create, and with buses on a libuv loop of this program.

#include <waybill.h>

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#define JSON(text) ((waybill_value){(text), sizeof(text) - 1})
#define NONE ((waybill_value){NULL, 0})
#define NOT_UTF8 "app://\xff"

static int failures;
static pthread_t owner;
static uv_loop_t uv;
static int is_adopted;
// The open buses of this thread.
static waybill_bus *buses[2];

static void expect(int holds, const char *what) {
    if (!holds) printf("  FAILED %s%s\n", what, is_adopted ? " (uv_loop_t)" : "");
    failures += !holds;
}

static void expect_owner(void) {
    expect(pthread_equal(pthread_self(), owner), "a callback runs on the thread of the bus");
}

// ---- Running the buses -------------------------------------------------------------------------------------

static void closed(void *bus) {
    expect_owner();
    *(waybill_bus **)bus = NULL;
}

static waybill_bus *open_bus(int index) {
    buses[index] = is_adopted ? waybill_adopt(&uv) : waybill_create();
    return buses[index];
}

// Waits for the next event of any bus, and runs the callbacks that are due.
static void turn(void) {
    struct pollfd descriptors[2];
    int count = 0, wait = 1000;
    if (is_adopted) {
        uv_run(&uv, UV_RUN_ONCE);
        return;
    }
    for (int index = 0; index < 2; index++) {
        if (buses[index] == NULL) continue;
        int timeout = waybill_timeout(buses[index]);
        if (timeout >= 0 && timeout < wait) wait = timeout;
        descriptors[count++] = (struct pollfd){waybill_fd(buses[index]), POLLIN, 0};
    }
    poll(descriptors, count, wait);
    for (int index = 0; index < 2; index++) {
        if (buses[index] != NULL) waybill_dispatch(buses[index]);
    }
}

static void wait_for(const int *count, int least) {
    while (*count < least) turn();
}

static void close_bus(int index) {
    if (buses[index] != NULL) waybill_close(buses[index], closed, &buses[index]);
    while (buses[index] != NULL) turn();
    // libuv has possibly closed the handles of the bus in the middle of its iteration.
    if (is_adopted) uv_run(&uv, UV_RUN_NOWAIT);
}

// ---- Callbacks ---------------------------------------------------------------------------------------------

typedef struct {
    int count;
    int status;
    char value[64];
    char error[256];
} result;

static void record(void *context, const waybill_outcome *outcome) {
    result *result = context;
    expect_owner();
    result->count++;
    result->status = outcome->status;
    snprintf(result->value, sizeof(result->value), "%.*s", (int)outcome->value.length,
             outcome->value.json == NULL ? "" : outcome->value.json);
    snprintf(result->error, sizeof(result->error), "%s", outcome->error == NULL ? "" : outcome->error);
}

// Sends a message and waits for the outcome.
static result call(waybill_bus *bus, const char *url, waybill_value parameters) {
    result result = {0};
    expect(waybill_route(bus, url, parameters, -1, record, &result, NULL) == WAYBILL_OK, "a call begins");
    wait_for(&result.count, 1);
    return result;
}

static void echo(void *count, waybill_message *message) {
    expect_owner();
    if (count != NULL) ++*(int *)count;
    waybill_reply(message, waybill_message_parameters(message));
}

static waybill_message *kept;

static void keep(void *count, waybill_message *message) {
    expect_owner();
    kept = message;
    ++*(int *)count;
}

static void count_message(void *count, const waybill_message *message) {
    (void)message;
    expect_owner();
    ++*(int *)count;
}

// ---- Order -------------------------------------------------------------------------------------------------

static char events[16];

static void note(void *context, const waybill_outcome *outcome) {
    expect_owner();
    strcat(events, outcome->status == WAYBILL_OK ? context : "!");
}

static void note_closed(void *bus) {
    closed(bus);
    strcat(events, "c");
}

static void calls_keep_their_order(void) {
    for (int round = 0; round < 20; round++) {
        waybill_bus *bus = open_bus(0);
        events[0] = '\0';
        waybill_register(bus, "app://echo", echo, NULL, NULL);
        waybill_route(bus, "app://echo", NONE, -1, note, "1", NULL);
        waybill_route(bus, "app://echo", NONE, -1, note, "2", NULL);
        waybill_route(bus, "app://echo", NONE, 1000, note, "3", NULL);
        waybill_close(bus, note_closed, &buses[0]);
        while (buses[0] != NULL) turn();
        if (is_adopted) uv_run(&uv, UV_RUN_NOWAIT);
        expect(strcmp(events, "123c") == 0, "calls end in their order, before `closed`");
    }
}

static int handled, heard_first, heard_second, misplaced;
static result burst;

static void note_news(void *count, const waybill_message *message) {
    expect_owner();
    const char *number = strrchr(waybill_message_url(message), '/') + 1;
    if (atoi(number) != (*(int *)count)++) misplaced++;
}

static void note_number(void *count, waybill_message *message) {
    note_news(count, message);
    waybill_reply(message, NONE);
}

static void begin_burst(void *bus, const waybill_outcome *outcome) {
    (void)outcome;
    for (int number = 0; number < 1000; number++) {
        char url[32];
        snprintf(url, sizeof(url), "app://burst/%d", number);
        waybill_route(bus, url, NONE, -1, record, &burst, NULL);
        snprintf(url, sizeof(url), "app://news/%d", number);
        waybill_publish(bus, url, NONE, NULL, NULL);
    }
}

// The loop polls while it begins these calls.
static void many_calls_keep_their_order(void) {
    for (int round = 0; round < 10; round++) {
        waybill_bus *bus = open_bus(0);
        handled = heard_first = heard_second = misplaced = 0;
        memset(&burst, 0, sizeof(burst));
        waybill_register(bus, "app://echo", echo, NULL, NULL);
        waybill_register(bus, "app://burst/:n", note_number, &handled, NULL);
        waybill_subscribe(bus, "app://news/:n", note_news, &heard_first, NULL);
        waybill_subscribe(bus, "app://news/:n", note_news, &heard_second, NULL);
        waybill_route(bus, "app://echo", NONE, -1, begin_burst, bus, NULL);
        wait_for(&burst.count, 1000);
        wait_for(&heard_second, 1000);
        expect(handled == 1000 && misplaced == 0, "many calls of a completion keep their order");
        expect(heard_first == 1000, "each subscriber receives each message once");
        close_bus(0);
    }
}

static void fail_at_close(void *context, const waybill_outcome *outcome) {
    record(context, outcome);
    expect(buses[0] != NULL, "a pending call fails before `closed`");
}

static void closing_fails_pending_calls(void) {
    result result = {0};
    int received = 0;
    waybill_bus *bus = open_bus(0);
    waybill_register(bus, "app://keep", keep, &received, NULL);
    waybill_route(bus, "app://keep", NONE, -1, fail_at_close, &result, NULL);
    wait_for(&received, 1);
    close_bus(0);
    expect(result.count == 1 && result.status == WAYBILL_SHUT_DOWN, "a pending call fails with SHUT_DOWN");
    expect(strcmp(waybill_message_url(kept), "app://keep") == 0, "its message is valid after `closed`");
    expect(waybill_reply(kept, NONE) == WAYBILL_OK, "and must be completed");
}

// ---- Cancellation ------------------------------------------------------------------------------------------

static void cancelled_work_does_not_run(void) {
    result result = {0};
    int received = 0, heard = 0;
    uint64_t handler = 0, subscriber = 0, id = 0;
    waybill_bus *bus = open_bus(0);
    waybill_register(bus, "app://echo", echo, &received, &handler);
    waybill_subscribe(bus, "app://news", count_message, &heard, &subscriber);

    waybill_route(bus, "app://echo", NONE, -1, record, &result, &id);
    expect(waybill_cancel(bus, id) == WAYBILL_OK, "a call is cancelled in the turn in which it began");
    wait_for(&result.count, 1);
    expect(result.status == WAYBILL_CANCELLED && received == 0, "its message is not delivered");

    waybill_publish(bus, "app://news", NONE, record, &result);
    wait_for(&result.count, 2);
    expect(heard == 1 && strcmp(result.value, "1") == 0, "a subscriber receives a message");
    expect(call(bus, "app://echo", NONE).status == WAYBILL_OK && received == 1, "a handler receives a message");
    waybill_register(bus, "app://keep", keep, &received, &id);
    waybill_route(bus, "app://keep", NONE, -1, record, &result, NULL);
    wait_for(&received, 2);
    waybill_cancel(bus, id);
    wait_for(&result.count, 3);
    expect(result.status == WAYBILL_NO_HANDLER, "a call ends with its handler");
    waybill_reply(kept, NONE);

    waybill_send(bus, "app://echo", NONE);
    expect(waybill_cancel(bus, handler) == WAYBILL_OK, "a registration is cancelled");
    expect(waybill_cancel(bus, subscriber) == WAYBILL_OK, "a subscription is cancelled");
    expect(waybill_cancel(bus, handler) == WAYBILL_OK, "an ID that is no longer in use is not an error");
    expect(call(bus, "app://echo", NONE).status == WAYBILL_NO_ROUTE, "a cancelled handler has no route");
    waybill_publish(bus, "app://news", NONE, record, &result);
    wait_for(&result.count, 4);
    expect(received == 2, "a cancelled handler does not receive a message that was sent before");
    expect(heard == 1 && strcmp(result.value, "0") == 0, "a cancelled subscriber receives nothing");
    close_bus(0);
}

// ---- Other threads -----------------------------------------------------------------------------------------

static pthread_t worker;

static void *reply_later(void *message) {
    // Without a pending call, uv_run would return meanwhile.
    usleep(10000);
    expect(strncmp(waybill_message_url(message), "app://", 6) == 0, "another thread can read a message");
    expect(waybill_reply(message, waybill_message_parameters(message)) == WAYBILL_OK, "and reply to it");
    return NULL;
}

static void hand_over(void *context, waybill_message *message) {
    (void)context;
    expect_owner();
    if (pthread_create(&worker, NULL, reply_later, message) != 0) abort();
}

static void receive(void *count, waybill_message *message) {
    waybill_value payload = waybill_message_payload(message);
    expect(payload.length == 7 && memcmp(payload.json, "{\"a\":1}", 7) == 0, "a return URL receives the reply");
    ++*(int *)count;
    waybill_reply(message, NONE);
}

static void another_thread_replies(void) {
    int received = 0;
    waybill_bus *bus = open_bus(0);
    waybill_register(bus, "app://work", hand_over, NULL, NULL);
    waybill_register(bus, "app://receive", receive, &received, NULL);
    result result = call(bus, "app://work", JSON("{\"a\":1}"));
    pthread_join(worker, NULL);
    expect(result.status == WAYBILL_OK && strcmp(result.value, "{\"a\":1}") == 0, "another thread's reply arrives");
    // No call is pending, but the handler has to complete its message.
    expect(waybill_send(bus, "app://work#app://receive", JSON("{\"a\":1}")) == WAYBILL_OK, "a message is sent");
    if (is_adopted) {
        uv_run(&uv, UV_RUN_DEFAULT);
        expect(received == 1, "a message that a handler keeps also keeps uv_run from returning");
    }
    wait_for(&received, 1);
    pthread_join(worker, NULL);
    close_bus(0);
}

static void *use_elsewhere(void *bus) {
    uint64_t id;
    int statuses[] = {
        waybill_register(bus, "app://a", echo, NULL, &id),
        waybill_subscribe(bus, "app://a", count_message, NULL, &id),
        waybill_route(bus, "app://a", NONE, -1, record, NULL, &id),
        waybill_send(bus, "app://a", NONE),
        waybill_publish(bus, "app://a", NONE, NULL, NULL),
        waybill_cancel(bus, 1),
        waybill_close(bus, NULL, NULL),
        is_adopted ? WAYBILL_WRONG_THREAD : waybill_dispatch(bus),
    };
    for (size_t index = 0; index < sizeof(statuses) / sizeof(*statuses); index++) {
        expect(statuses[index] == WAYBILL_WRONG_THREAD, "a call on another thread fails");
    }
    const char *error = waybill_error(bus);
    expect(error != NULL && strstr(error, "thread") != NULL, "and waybill_error names the reason");
    return NULL;
}

static void other_threads_are_refused(void) {
    pthread_t thread;
    waybill_bus *bus = open_bus(0);
    if (pthread_create(&thread, NULL, use_elsewhere, bus) != 0) abort();
    pthread_join(thread, NULL);
    close_bus(0);
}

// ---- Two buses ---------------------------------------------------------------------------------------------

static void forwarded(void *message, const waybill_outcome *outcome) {
    expect_owner();
    waybill_reply(message, outcome->value);
}

// Passes a message on to the other bus.
static void forward(void *context, waybill_message *message) {
    (void)context;
    expect_owner();
    waybill_route(buses[1], "app://work", waybill_message_parameters(message), -1, forwarded, message, NULL);
}

static void nothing(void *context, const waybill_outcome *outcome) {
    (void)context;
    (void)outcome;
}

// Closes the other bus, and waits until it is closed.
static void close_other(void *context, waybill_message *message) {
    (void)context;
    waybill_close(buses[1], closed, &buses[1]);
    while (buses[1] != NULL) waybill_dispatch(buses[1]);
    waybill_reply(message, NONE);
}

static void two_buses_share_a_thread(void) {
    for (int first = 0; first < 2; first++) {
        result result = {0};
        int received = 0;
        waybill_bus *bus = open_bus(0), *other = open_bus(1);
        waybill_register(bus, "app://forward", forward, NULL, NULL);
        waybill_register(bus, "app://keep", keep, &received, NULL);
        waybill_register(bus, "app://close", close_other, NULL, NULL);
        waybill_register(other, "app://keep", keep, &received, NULL);
        waybill_register(other, "app://work", hand_over, NULL, NULL);
        expect(strcmp(call(bus, "app://forward", JSON("{\"a\":1}")).value, "{\"a\":1}") == 0, "a bus calls another bus");
        pthread_join(worker, NULL);

        // A bus does not need the turns of the other bus, even if the other bus is newer.
        buses[1] = NULL;
        waybill_route(bus, "app://keep", NONE, 60000, record, &result, NULL);
        wait_for(&received, 1);
        waybill_reply(kept, JSON("1"));
        wait_for(&result.count, 1);
        expect(strcmp(result.value, "1") == 0, "a bus works on its own");
        buses[1] = other;

        // The call of one bus goes on while the other bus is closed.
        int left = 1 - first;
        waybill_route(buses[left], "app://keep", NONE, -1, record, &result, NULL);
        wait_for(&received, 2);
        if (first == 1 && !is_adopted) {
            call(bus, "app://close", NONE);
        } else {
            close_bus(first);
        }
        waybill_reply(kept, JSON("7"));
        wait_for(&result.count, 2);
        expect(strcmp(result.value, "7") == 0, "a bus works after another bus has closed");
        waybill_route(buses[left], "app://keep", NONE, 5, record, &result, NULL);
        wait_for(&result.count, 3);
        expect(result.status == WAYBILL_DEADLINE_EXCEEDED, "and its timeouts pass");
        // A timeout can pass before the message is delivered.
        if (received == 3) waybill_reply(kept, NONE);
        close_bus(left);
    }
}

// ---- Arguments ---------------------------------------------------------------------------------------------

static void null_pointers_are_refused(void) {
    waybill_bus *bus = open_bus(0);
    int statuses[] = {
        waybill_register(NULL, "app://a", echo, NULL, NULL),
        waybill_register(bus, NULL, echo, NULL, NULL),
        waybill_register(bus, "app://a", NULL, NULL, NULL),
        waybill_subscribe(NULL, "app://a", count_message, NULL, NULL),
        waybill_subscribe(bus, NULL, count_message, NULL, NULL),
        waybill_subscribe(bus, "app://a", NULL, NULL, NULL),
        waybill_route(NULL, "app://a", NONE, -1, nothing, NULL, NULL),
        waybill_route(bus, NULL, NONE, -1, nothing, NULL, NULL),
        waybill_route(bus, "app://a", NONE, -1, NULL, NULL, NULL),
        waybill_route(bus, "app://a", (waybill_value){NULL, 1}, -1, nothing, NULL, NULL),
        waybill_send(NULL, "app://a", NONE),
        waybill_send(bus, NULL, NONE),
        waybill_publish(NULL, "app://a", NONE, NULL, NULL),
        waybill_publish(bus, NULL, NONE, NULL, NULL),
        waybill_cancel(NULL, 1),
        waybill_close(NULL, NULL, NULL),
        waybill_dispatch(NULL),
        is_adopted ? waybill_dispatch(bus) : WAYBILL_INVALID_ARGUMENT,
        waybill_reply(NULL, NONE),
        waybill_fail(NULL, "no"),
        // Texts that are not UTF-8, not JSON, not an object, nested too deeply, or longer than any object.
        waybill_register(bus, NOT_UTF8, echo, NULL, NULL),
        waybill_subscribe(bus, NOT_UTF8, count_message, NULL, NULL),
        waybill_route(bus, NOT_UTF8, NONE, -1, nothing, NULL, NULL),
        waybill_send(bus, "app://a", JSON("{\"a\":\"\xff\"}")),
        waybill_send(bus, "app://a", JSON("{")),
        waybill_publish(bus, "app://a", JSON("7"), NULL, NULL),
        waybill_send(bus, "app://a", (waybill_value){"{}", SIZE_MAX}),
    };
    for (size_t index = 0; index < sizeof(statuses) / sizeof(*statuses); index++) {
        char what[64];
        snprintf(what, sizeof(what), "the invalid argument %zu is refused", index);
        expect(statuses[index] == WAYBILL_INVALID_ARGUMENT, what);
    }
    expect(waybill_adopt(NULL) == NULL, "a null pointer is not a loop");
    expect(waybill_error(NULL) != NULL && *waybill_error(NULL) != '\0', "a null bus has an error message");
    expect(waybill_fd(NULL) == -1 && waybill_timeout(NULL) == WAYBILL_REFUSED, "a null bus has no descriptor");
    expect(waybill_message_url(NULL) == NULL && waybill_message_parameters(NULL).json == NULL, "nor a message");
    expect(strcmp(waybill_status_name(WAYBILL_NO_ROUTE), "noRoute") == 0, "a status has a name");
    expect(strcmp(waybill_status_name(-1000), "other") == 0, "and so has an unknown status");

    char deep[256] = "{\"a\":";
    memset(deep + 5, '[', 80);
    memset(deep + 85, ']', 80);
    strcpy(deep + 165, "}");
    expect(waybill_send(bus, "app://a", (waybill_value){deep, 166}) == WAYBILL_INVALID_ARGUMENT, "depth is limited");
    expect(strstr(waybill_error(bus), "64 levels") != NULL, "and the error names the limit");
    close_bus(0);
}

static void a_lost_message_is_reported(void) {
    int received = 0, sent = 0, status;
    waybill_bus *bus = open_bus(0);
    waybill_register(bus, "app://echo", echo, &received, NULL);
    expect(waybill_send(bus, "app://nothing", NONE) == WAYBILL_NO_ROUTE, "an unknown URL is reported");
    expect(strstr(waybill_error(bus), "app://nothing") != NULL, "and the error names the URL");
    expect(waybill_send(bus, "app://%ff", NONE) == WAYBILL_INVALID_URL, "an invalid URL is reported");
    while ((status = waybill_send(bus, "app://echo", NONE)) == WAYBILL_OK && sent < 2000) sent++;
    expect(status == WAYBILL_MAILBOX_FULL && sent == 1024, "a full mailbox is reported");
    wait_for(&received, sent);
    expect(waybill_send(bus, "app://echo", NONE) == WAYBILL_OK, "and has room again");
    wait_for(&received, sent + 1);
    close_bus(0);
}

// ---- Failures ----------------------------------------------------------------------------------------------

static void reply_with_nonsense(void *context, waybill_message *message) {
    (void)context;
    expect(waybill_reply(message, JSON("[1,")) == WAYBILL_INVALID_ARGUMENT, "a reply must be JSON");
}

static void fail_with_text(void *text, waybill_message *message) { waybill_fail(message, text); }

static void reply_as_subscriber(void *count, const waybill_message *message) {
    expect(waybill_reply((waybill_message *)message, NONE) == WAYBILL_INVALID_ARGUMENT, "a subscriber cannot reply");
    ++*(int *)count;
}

static void handlers_fail(void) {
    int heard = 0;
    waybill_bus *bus = open_bus(0);
    waybill_register(bus, "app://nonsense", reply_with_nonsense, NULL, NULL);
    waybill_register(bus, "app://text", fail_with_text, "closed on Sundays\n", NULL);
    waybill_register(bus, "app://null", fail_with_text, NULL, NULL);
    waybill_register(bus, "app://bytes", fail_with_text, "\xff", NULL);
    waybill_subscribe(bus, "app://news", reply_as_subscriber, &heard, NULL);
    result result = call(bus, "app://nonsense", NONE);
    expect(result.status == WAYBILL_HANDLER_FAILED && strstr(result.error, "byte 3") != NULL,
           "an invalid reply fails the message, with the reason");
    result = call(bus, "app://text", NONE);
    expect(result.status == WAYBILL_HANDLER_FAILED && strcmp(result.error, "closed on Sundays\n") == 0,
           "the caller receives the text of a failure itself");
    expect(call(bus, "app://null", NONE).status == WAYBILL_HANDLER_FAILED, "a null text fails the message");
    expect(call(bus, "app://bytes", NONE).status == WAYBILL_HANDLER_FAILED, "and so does a text that is not UTF-8");
    waybill_publish(bus, "app://news", NONE, NULL, NULL);
    wait_for(&heard, 1);
    close_bus(0);
}

// ---- Inheritance -------------------------------------------------------------------------------------------

static result inner, later, outer;

static void begin_later(void *context, const waybill_outcome *outcome) {
    record(context, outcome);
    waybill_route(buses[0], "app://echo", NONE, -1, record, &later, NULL);
}

// Begins a call that inherits the deadline of this message.
static void begin_inner(void *context, waybill_message *message) {
    (void)context;
    waybill_route(buses[0], "app://keep", NONE, -1, begin_later, &inner, NULL);
    waybill_reply(message, NONE);
}

// Publishes the message that it receives.
static void publish_again(void *count, const waybill_message *message) {
    ++*(int *)count;
    waybill_publish(buses[0], waybill_message_url(message), NONE, record, &outer);
}

static void handlers_pass_on_their_limits(void) {
    int received = 0, heard = 0;
    waybill_bus *bus = open_bus(0);
    memset(&inner, 0, sizeof(inner));
    memset(&later, 0, sizeof(later));
    waybill_register(bus, "app://begin", begin_inner, NULL, NULL);
    waybill_register(bus, "app://keep", keep, &received, NULL);
    waybill_register(bus, "app://echo", echo, NULL, NULL);
    waybill_subscribe(bus, "app://again", publish_again, &heard, NULL);
    // The deadline must not pass before the handler begins, even under valgrind.
    waybill_route(bus, "app://begin", NONE, 300, record, &outer, NULL);
    wait_for(&later.count, 1);
    expect(inner.status == WAYBILL_DEADLINE_EXCEEDED, "a call of a handler inherits the deadline");
    expect(later.status == WAYBILL_OK, "a call of a completion does not");
    if (received == 1) waybill_reply(kept, NONE);

    memset(&outer, 0, sizeof(outer));
    waybill_publish(bus, "app://again", NONE, record, &outer);
    while (outer.count <= heard) turn();
    expect(outer.status == WAYBILL_HOP_LIMIT_EXCEEDED && heard == 17, "a chain of publications has a limit");
    close_bus(0);
}

int main(void) {
    void (*checks[])(void) = {
        calls_keep_their_order,      many_calls_keep_their_order, closing_fails_pending_calls,
        cancelled_work_does_not_run, another_thread_replies,      other_threads_are_refused,
        two_buses_share_a_thread,    null_pointers_are_refused,   a_lost_message_is_reported,
        handlers_fail,               handlers_pass_on_their_limits,
    };
    owner = pthread_self();
    setvbuf(stdout, NULL, _IOLBF, 0);
    // A check that waits for ever ends the program.
    alarm(120);
    for (is_adopted = 0; is_adopted < 2; is_adopted++) {
        uv_loop_init(&uv);
        for (size_t index = 0; index < sizeof(checks) / sizeof(*checks); index++) checks[index]();
        expect(uv_loop_close(&uv) == 0, "the buses leave no handle on the loop");
    }
    printf("checks: %s\n", failures == 0 ? "everything holds" : "FAILED");
    return failures == 0 ? 0 : 1;
}
