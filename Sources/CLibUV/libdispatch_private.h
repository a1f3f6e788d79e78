#ifndef WAYBILL_LIBDISPATCH_PRIVATE_H
#define WAYBILL_LIBDISPATCH_PRIVATE_H

// The functions of libdispatch that no header of it declares.
// With `-D WAYBILL_PUBLIC_API_ONLY` they are not declared, and Swift code beside each use does without them.

#ifndef WAYBILL_PUBLIC_API_ONLY

#if defined(__linux__)
// The functions that libdispatch provides for foreign run loops, such as the run loop of CoreFoundation on
// this system. The first returns a descriptor that is readable while the main queue has work. The second runs
// that work. Only the main thread may call them.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *unused);
#endif

#endif

#endif
