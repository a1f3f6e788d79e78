#ifndef WAYBILL_LIBDISPATCH_PRIVATE_H
#define WAYBILL_LIBDISPATCH_PRIVATE_H

// The functions of libdispatch that its headers do not declare. With `-D WAYBILL_PUBLIC_API_ONLY` these
// functions are not declared. Swift code beside each use then has an alternative.

#ifndef WAYBILL_PUBLIC_API_ONLY

#if defined(__linux__)
// The functions that libdispatch provides for run loops of other libraries, such as the run loop of
// CoreFoundation on Linux. The first function returns a descriptor that is readable while the main queue has
// work. The second function runs that work. Only the main thread may call these functions.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *unused);
#endif

#endif

#endif
