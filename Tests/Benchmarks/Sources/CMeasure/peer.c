#include "peer.h"

#include <dlfcn.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

pid_t start_peer(const char *const arguments[]) {
    // Threads that run tasks block all signals. A program inherits this mask and would not receive SIGTERM.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    pid_t peer = -1;
    int failure = posix_spawnp(&peer, arguments[0], NULL, &attributes, (char *const *)arguments, environ);
    posix_spawnattr_destroy(&attributes);
    return failure == 0 ? peer : -1;
}

void stop_peer(pid_t peer) {
    kill(peer, SIGTERM);
    waitpid(peer, NULL, 0);
}

int find_functions(void *library, const struct function functions[], size_t count) {
    for (size_t i = 0; i < count; i += 1) {
        *functions[i].place = dlsym(library, functions[i].name);
        if (*functions[i].place == NULL) return -1;
    }
    return 0;
}
