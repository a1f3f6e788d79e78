#include "host.h"

#include <stdio.h>
#include <string.h>

#define JSON(text) ((waybill_value){(text), sizeof(text) - 1})
#define NONE ((waybill_value){NULL, 0})

static void expect(host *host, int holds, const char *what) {
    printf("  %s %s\n", holds ? "ok" : "FAILED", what);
    if (!holds) host->failures++;
}

static int equals(waybill_value value, const char *text) {
    return value.length == strlen(text) && memcmp(value.json, text, value.length) == 0;
}

static void begin(host *host, int status) {
    host->pending++;
    if (status != WAYBILL_OK) {
        printf("  %s: %s\n", waybill_status_name(status), waybill_error(host->bus));
        host->failures++;
    }
}

static void never(void *context, const waybill_outcome *outcome) {
    (void)outcome;
    expect(context, 0, "a call that was refused has no outcome");
}

static void closed(void *context) { ((host *)context)->done++; }

static void end(host *host) {
    if (--host->pending > 0) return;
    expect(host, waybill_close(host->bus, closed, host) == WAYBILL_OK, "a bus is closed");
    expect(host, waybill_close(host->bus, closed, host) == WAYBILL_SHUT_DOWN, "and not a second time");
    expect(host, strstr(waybill_error(host->bus), "already being closed") != NULL, "and the error says why");
    // If the bus accepted this call, the completion would run after `closed`.
    int status = waybill_route(host->bus, "app://echo/7", NONE, -1, never, host, NULL);
    expect(host, status == WAYBILL_SHUT_DOWN, "a bus that is closing begins no call");
    if (waybill_fd(host->bus) < 0) return;
    expect(host, waybill_dispatch(host->bus) == WAYBILL_REFUSED, "a callback cannot dispatch the loop");
}

// Replies immediately with the parameters of the message.
static void echo(void *context, waybill_message *message) {
    (void)context;
    waybill_reply(message, waybill_message_parameters(message));
}

static void refuse(void *context, waybill_message *message) {
    (void)context;
    waybill_fail(message, "closed on Sundays");
}

// Keeps a message, to which `late` or `cancelled` replies after the call has ended. Cancels the first call.
static void keep(void *context, waybill_message *message) {
    host *host = context;
    host->kept = message;
    if (host->slow != 0) waybill_cancel(host->bus, host->slow);
    host->slow = 0;
}

static void hear(void *context, const waybill_message *message) {
    host *host = context;
    host->heard++;
    expect(host, equals(waybill_message_parameters(message), "{\"degrees\":21,\"room\":\"hall\"}"),
           "a subscriber sees the parameters");
}

static void receive(void *context, waybill_message *message) {
    expect(context, equals(waybill_message_payload(message), "{\"text\":\"hi\"}"), "a return URL gets the reply");
    waybill_reply(message, NONE);
    end(context);
}

static void echoed(void *context, const waybill_outcome *outcome) {
    expect(context, outcome->status == WAYBILL_OK && outcome->error == NULL, "a call is answered");
    expect(context, equals(outcome->value, "{\"id\":\"7\",\"tags\":[1,2.5,null],\"text\":\"hi\"}"),
           "the reply is what the handler gave");
    end(context);
}

static void refused(void *context, const waybill_outcome *outcome) {
    expect(context, outcome->status == WAYBILL_HANDLER_FAILED && strcmp(outcome->error, "closed on Sundays") == 0,
           "a failure has its handler's words");
    end(context);
}

static void lost(void *context, const waybill_outcome *outcome) {
    expect(context, outcome->status == WAYBILL_NO_ROUTE && outcome->value.json == NULL, "an unknown URL is no route");
    end(context);
}

static void late(void *context, const waybill_outcome *outcome) {
    host *host = context;
    expect(host, outcome->status == WAYBILL_DEADLINE_EXCEEDED, "a call ends at its deadline");
    // On a slow machine the deadline may have passed before the handler began.
    if (host->kept != NULL) expect(host, waybill_reply(host->kept, JSON("1")) == WAYBILL_OK, "a late reply is dropped");
    host->kept = NULL;
    end(host);
}

static void cancelled(void *context, const waybill_outcome *outcome) {
    host *host = context;
    expect(host, outcome->status == WAYBILL_CANCELLED, "a call that is cancelled ends");
    expect(host, waybill_fail(host->kept, "too late") == WAYBILL_OK, "its message is ended all the same");
    host->kept = NULL;
    // The second call starts only now, because `kept` has room for one message.
    begin(host, waybill_route(host->bus, "app://slow", NONE, 50, late, host, NULL));
    end(host);
}

static void published(void *context, const waybill_outcome *outcome) {
    host *host = context;
    expect(host, outcome->status == WAYBILL_OK && equals(outcome->value, "1") && host->heard == 1,
           "a message is published");
    end(host);
}

void host_begin(host *host, waybill_bus *bus) {
    uint64_t first = 0;
    memset(host, 0, sizeof(*host));
    host->bus = bus;
    expect(host, waybill_abi_version() >= WAYBILL_ABI_VERSION, "the library is as new as the header");
    expect(host, waybill_register(bus, "app://echo/:id", echo, host, &first) == WAYBILL_OK, "a handler is registered");
    expect(host, waybill_register(bus, "app://echo/:name", echo, host, NULL) == WAYBILL_CONFLICT, "a rival is refused");
    expect(host, strstr(waybill_error(bus), "app://echo/:id") != NULL, "and the error names the first");
    expect(host, strstr(waybill_error(bus), ".swift") == NULL, "and no file of the library");
    waybill_register(bus, "app://refuse", refuse, host, NULL);
    waybill_register(bus, "app://slow", keep, host, NULL);
    waybill_register(bus, "app://receive", receive, host, NULL);
    waybill_subscribe(bus, "app://climate", hear, host, NULL);
    expect(host, waybill_route(bus, "app://echo/7", JSON("[1]"), -1, echoed, host, NULL) == WAYBILL_INVALID_ARGUMENT,
           "parameters are an object");

    waybill_value words = JSON("{\"text\":\"hi\",\"tags\":[1,2.5,null]}");
    begin(host, waybill_route(bus, "app://echo/7", words, -1, echoed, host, NULL));
    begin(host, waybill_route(bus, "app://refuse", NONE, -1, refused, host, NULL));
    begin(host, waybill_route(bus, "app://nothing", NONE, -1, lost, host, NULL));
    begin(host, waybill_route(bus, "app://slow", NONE, -1, cancelled, host, &host->slow));
    begin(host, waybill_publish(bus, "app://climate", JSON("{\"room\":\"hall\",\"degrees\":21}"), published, host));
    // This call ends when its return URL receives the reply.
    waybill_register(bus, "app://say", echo, host, NULL);
    begin(host, waybill_send(bus, "app://say?text=hi#app://receive", NONE));
}

int host_end(const host *host, const char *name) {
    int holds = host->failures == 0 && host->done == 1;
    printf("%s: %s\n", name, holds ? "everything holds" : "FAILED");
    return holds ? 0 : 1;
}
