/* plugins: loads and unloads libraries that hold libeden, as its arguments say, one after the other:
 *
 *     load FILE     loads a plugin; the following are of the one that was loaded last
 *     begin NAME    creates its heap
 *     work NODES    allocates in it, and collects all if NODES is even
 *     end           destroys the heap
 *     close         unloads the plugin
 *     wait          prints "ready" and waits for a line
 *     exec          begins anew with the arguments after this, by executing itself */
#include "plugin.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLUGINS = 8 };

struct plugin {
    void *library;
    typeof(&plugin_begin) begin;
    typeof(&plugin_work) work;
    typeof(&plugin_end) end;
};

static struct plugin plugins[PLUGINS];
static size_t count;

static void stop(const char *what) {
    fprintf(stderr, "plugins: %s\n", what);
    exit(1);
}

static void load(const char *file) {
    struct plugin plugin = {.library = dlopen(file, RTLD_NOW | RTLD_LOCAL)};
    if (!plugin.library || count == PLUGINS) {
        stop(plugin.library ? "too many plugins" : dlerror());
    }
    plugin.begin = (typeof(plugin.begin))dlsym(plugin.library, "plugin_begin");
    plugin.work = (typeof(plugin.work))dlsym(plugin.library, "plugin_work");
    plugin.end = (typeof(plugin.end))dlsym(plugin.library, "plugin_end");
    plugins[count++] = plugin;
}

static void wait_for_line(void) {
    char line[16];
    if (puts("ready") == EOF || fflush(stdout) != 0 || !fgets(line, sizeof line, stdin)) {
        stop("nobody says when to go on");
    }
}

/* How many arguments it has taken. */
static int step(char **argv) {
    const char *word = argv[0], *value = argv[1] ? argv[1] : "";
    struct plugin *last = count ? &plugins[count - 1] : NULL;
    if (strcmp(word, "load") == 0) {
        load(value);
        return 2;
    }
    if (strcmp(word, "wait") == 0) {
        wait_for_line();
        return 1;
    }
    if (strcmp(word, "exec") == 0) {
        argv[0] = "plugins";
        execv("/proc/self/exe", argv);
        stop("it cannot execute itself");
    }
    if (!last) {
        stop("no plugin is loaded");
    }
    if (strcmp(word, "begin") == 0) {
        last->begin(value);
        return 2;
    }
    if (strcmp(word, "work") == 0) {
        last->work(atoi(value));
        return 2;
    }
    if (strcmp(word, "end") == 0) {
        last->end();
    } else if (strcmp(word, "close") == 0) {
        dlclose(last->library);
        count--;
    } else {
        stop(word);
    }
    return 1;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc;) {
        i += step(argv + i);
    }
    return 0;
}
