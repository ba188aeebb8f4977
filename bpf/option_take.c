/* Takes single options out of an argv; argv stays ended by NULL and what follows `--` is not looked at. */
#include "option_take.h"
#include <stddef.h>
#include <string.h>

static void remove_at(int *argc, char **argv, int at, int count) {
    memmove(argv + at, argv + at + count, (size_t)(*argc - at - count + 1) * sizeof *argv);
    *argc -= count;
}

bool option_take_flag(int *argc, char **argv, const char *name) {
    for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], name) == 0) {
            remove_at(argc, argv, i, 1);
            return true;
        }
    }
    return false;
}

char *option_take_value(int *argc, char **argv, const char *name) {
    size_t length = strlen(name);
    for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') {
            char *value = argv[i] + length + 1;
            remove_at(argc, argv, i, 1);
            return value;
        }
        if (strcmp(argv[i], name) == 0) {
            bool given = i + 1 < *argc && strcmp(argv[i + 1], "--") != 0;
            char *value = given ? argv[i + 1] : argv[i] + length;
            remove_at(argc, argv, i, given ? 2 : 1);
            return value;
        }
    }
    return NULL;
}
