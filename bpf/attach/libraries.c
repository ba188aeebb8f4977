/* Finds a program's libraries as its loader will, without running either.
 *
 * 1. Purpose
 * Probes are set in the files that a command will map, before it runs. The loader itself could list them (--list), but
 * the file names its loader, and root must run nothing that a file names.
 *
 * 2. Algorithm
 * Breadth first over DT_NEEDED. A name with a slash is a path. Any other name is searched for, as ld.so(8) says, in:
 * DT_RPATH of the file and of those that need it, where there is no DT_RUNPATH; LD_LIBRARY_PATH; DT_RUNPATH of the
 * file; the cache; the default folders. The first folder that has an ELF file for x86-64 of this name wins. Within a
 * folder all variants for newer processors (glibc-hwcaps) are taken: the processor decides which one is mapped, and
 * what is never mapped costs nothing. The cache comes from ldconfig -p, a program of root's, and the only one that is
 * run. LD_PRELOAD and /etc/ld.so.preload count as needed by the program.
 *
 * 3. Invariants
 * I1. The opener opens each file (regular_open(): no pipe, no device), and the inspector reads it: nobody else waits
 *     for it, or parses it.
 * I2. A name from a file leads to what a loader would open for it, and to nothing else.
 * I3. A library named inside a file is opened with the rights of that file's owner. If root owns the file: with those
 *     of the file that led to it, or of the user that executed it, since that user chooses the path of the program and
 *     so its $ORIGIN. If others may write the file: not at all.
 * I4. At most LIBRARIES_MOST files, MOST_OPENED paths and MOST_NAMES names, whatever the files say.
 * I5. Where the loader may find another file than was found here, is_partial says so.
 *
 * 4. Failure
 * A file that misses a deadline is named, and ends the search of this program. All searches for an owner have one
 * budget, which grows with time. A library that is missed here (dlopen(), a loader with rules of its own) is attached
 * to when it is found in the process's mappings. */
#include "attach/libraries.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/message.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_OPENED = 8192, MOST_NAMES = 1024, MOST_INTERPRETERS = 5, NOBODY = 65534 };

static const char *const variants[] = {"/glibc-hwcaps/x86-64-v4", "/glibc-hwcaps/x86-64-v3", "/glibc-hwcaps/x86-64-v2",
                                       ""};
static const char *const default_folders = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:"
                                           "/usr/lib:/usr/local/lib";
/* What $LIB may stand for: Debian's folder, the others'. */
static const char *const lib_folders[] = {"lib/x86_64-linux-gnu", "lib64", "lib"};
enum { LIB_FOLDERS = sizeof lib_folders / sizeof *lib_folders };

/* ---- files ------------------------------------------------------------------------------------------------------ */

static bool is_known(const struct libraries *libraries, const struct regular *file) {
    for (size_t i = 0; i < libraries->count; i++) {
        const struct stat *known = &libraries->file[i].file.status;
        if (known->st_dev == file->status.st_dev && known->st_ino == file->status.st_ino) {
            return true;
        }
    }
    return false;
}

/* If a deadline has ended the search, names the file that was searched for: the first time only. */
static void report_late(const struct libraries *libraries, const char *path, bool was_unread) {
    if (libraries->budget.is_unread && !was_unread) {
        message_print(
            "%.300s: reading it and its libraries takes too long; unread libraries are observed once they are mapped",
            path);
    }
}

/* I3; `from`: the user of the file that led to this one. */
static uint32_t user_of(const struct regular *file, uint32_t from) {
    const struct stat *status = &file->status;
    return status->st_uid != 0 ? status->st_uid : status->st_mode & (S_IWGRP | S_IWOTH) ? NOBODY : from;
}

void libraries_charge(struct libraries *libraries, uint32_t user, uint32_t owner) {
    struct target *budget = &libraries->budget;
    for (size_t i = 0; budget->owner != owner && i < libraries->owners; i++) {
        if (libraries->budgets[i].owner == owner) {
            const struct target found = libraries->budgets[i];
            libraries->budgets[i] = *budget;
            *budget = found;
            budget->is_unread = false; /* that search is over */
        }
    }
    if (budget->owner != owner) {
        struct target *kept =
            array_grow(&libraries->budgets, &libraries->owner_room, libraries->owners, sizeof *libraries->budgets);
        if (kept) {
            *kept = *budget;
            libraries->owners++;
            *budget = (struct target){.opened_ns = now_ns()};
        }
    }
    budget->user = user;
    budget->owner = owner; /* no memory: the owner has what is left of another's */
    inspect_forfeit(budget);
}

bool libraries_open_program(struct libraries *libraries, uint32_t rights, const char *path,
                            const struct file_identity *wanted, bool is_executable, struct regular *file) {
    bool was_unread = libraries->budget.is_unread;
    bool is_open = inspect_open_path(libraries->inspect, &libraries->budget, rights, path, wanted, is_executable, file);
    int error = errno;
    report_late(libraries, path, was_unread);
    errno = error;
    return is_open;
}

/* Opens what a file or the environment names. I5: only of what does not exist is it known that the loader goes on, too;
 * it may have rights (groups) that are not known here. */
static bool open_named(struct libraries *libraries, uint32_t rights, const char *path, bool is_executable,
                       struct regular *file) {
    *file = (struct regular){.fd = -1};
    bool is_known = *path == '/' || libraries->environment.is_own; /* others' relative paths start from their folders */
    bool is_open = is_known && libraries_open_program(libraries, rights, path, NULL, is_executable, file);
    libraries->is_partial = libraries->is_partial || !is_known || (!is_open && errno != ENOENT && errno != ENOTDIR);
    return is_open;
}

static bool read_needs(struct libraries *libraries, const char *path, const struct regular *file, struct needs *needs) {
    bool was_unread = libraries->budget.is_unread;
    bool is_read = inspect_needs(libraries->inspect, &libraries->budget, file, needs);
    libraries->is_partial = libraries->is_partial || (is_read ? needs->is_cut != 0 : errno != ENOEXEC);
    report_late(libraries, path, was_unread);
    return is_read;
}

/* Adds a file that `from` needs, or `user` has led to. Takes it. */
static bool add_file(struct libraries *libraries, const char *path, struct regular *file, size_t from, uint32_t user,
                     const struct needs *needs) {
    bool has_room = libraries->count < LIBRARIES_MOST;
    char *copy = has_room ? strdup(path) : NULL;
    struct needs *kept = has_room ? malloc(needs_bytes(needs)) : NULL;
    if (!copy || !kept) {
        libraries->is_partial = true;
        free(copy);
        free(kept);
        regular_close(file);
        return false;
    }
    memcpy(kept, needs, needs_bytes(needs));
    libraries->file[libraries->count++] =
        (struct library){.path = copy, .file = *file, .from = from, .user = user_of(file, user), .needs = kept};
    return true;
}

/* Opens a file that `from` needs, and adds it if it is an ELF file. True too where it is known. */
static bool add_path(struct libraries *libraries, const char *path, size_t from) {
    struct needs needs;
    struct regular file = {.fd = -1};
    uint32_t rights = libraries->file[from].user;
    bool has_room = libraries->opened++ < MOST_OPENED;
    bool is_open = has_room && open_named(libraries, rights, path, false, &file);
    libraries->is_partial = libraries->is_partial || !has_room;
    bool known = is_open && is_known(libraries, &file);
    if (is_open && !known && read_needs(libraries, path, &file, &needs) && !needs.is_script) {
        return add_file(libraries, path, &file, from, rights, &needs);
    }
    regular_close(&file);
    return known;
}

/* ---- folders ---------------------------------------------------------------------------------------------------- */

void libraries_folder_of(int fd, char folder[PATH_MAX]) {
    char same[64];
    snprintf(same, sizeof same, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(same, folder, PATH_MAX - 1);
    folder[length > 0 ? length : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash) {
        *slash = 0;
    }
}

/* Expands $ORIGIN, $LIB and $PLATFORM, with braces or without. False: too long. */
static bool expand(const char *text, size_t length, const char *origin, const char *lib, char to[PATH_MAX]) {
    const struct {
        const char *name, *value;
    } tokens[] = {{"${ORIGIN}", origin}, {"$ORIGIN", origin},       {"${LIB}", lib},
                  {"$LIB", lib},         {"${PLATFORM}", "x86_64"}, {"$PLATFORM", "x86_64"}};
    size_t used = 0;
    for (size_t at = 0; at < length;) {
        const char *from = text + at;
        size_t bytes = 1, step = 1;
        for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
            size_t name = strlen(tokens[i].name);
            if (name <= length - at && strncmp(from, tokens[i].name, name) == 0) {
                from = tokens[i].value;
                bytes = strlen(from);
                step = name;
                break;
            }
        }
        if (bytes >= PATH_MAX - used) {
            return false;
        }
        memcpy(to + used, from, bytes);
        used += bytes;
        at += step;
    }
    to[used] = 0;
    return true;
}

static bool find_in_folder(struct libraries *libraries, const char *folder, const char *name, size_t from) {
    bool found = false;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s%s/%s", *folder ? folder : ".", variants[i], name) < (int)sizeof path) {
            found = add_path(libraries, path, from) || found;
        }
    }
    return found;
}

/* Searches folders separated by colons or semicolons; the first that has the library wins. `owner`: the file that names
 * the folders. */
static bool find_in_folders(struct libraries *libraries, const char *folders, size_t owner, const char *name,
                            size_t from) {
    char origin[PATH_MAX], folder[PATH_MAX];
    libraries_folder_of(libraries->file[owner].file.fd, origin);
    while (folders && *folders) {
        size_t length = strcspn(folders, ":;");
        int expansions = memmem(folders, length, "LIB", 3) ? LIB_FOLDERS : 1;
        for (int i = 0; i < expansions; i++) {
            if (expand(folders, length, origin, lib_folders[i], folder) &&
                find_in_folder(libraries, folder, name, from)) {
                return true;
            }
        }
        folders += length + (folders[length] != 0);
    }
    return false;
}

/* ---- the cache -------------------------------------------------------------------------------------------------- */

/* "" where there is no ldconfig that prints a cache. */
static char *read_cache(void) {
    char *const arguments[] = {(char[]){"ldconfig"}, (char[]){"-p"}, NULL};
    char *const environment[] = {(char[]){"LC_ALL=C"}, NULL};
    int out[2];
    char *text = calloc(1, 1);
    if (!text || pipe2(out, O_CLOEXEC) != 0) {
        return text;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    bool runs = posix_spawn(&child, "/sbin/ldconfig", &actions, NULL, arguments, environment) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    FILE *lines = fdopen(out[0], "r");
    size_t size = 0;
    if (!lines) {
        close(out[0]);
    } else {
        char *all = NULL;
        if (getdelim(&all, &size, 0, lines) > 0) {
            free(text);
            text = all;
        } else {
            free(all);
        }
        fclose(lines);
    }
    while (runs && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    return text;
}

/* What /etc/ld.so.preload says, without comments; NULL where there is none. */
static char *read_preload_file(void) {
    FILE *file = fopen("/etc/ld.so.preload", "re");
    char *all = NULL;
    size_t size = 0;
    bool is_read = file && getdelim(&all, &size, 0, file) > 0;
    for (char *at = all; is_read && (at = strchr(at, '#'));) {
        memset(at, ' ', strcspn(at, "\n"));
    }
    if (file) {
        fclose(file);
    }
    if (!is_read) {
        free(all);
    }
    return is_read ? all : NULL;
}

/* A line of the cache: "	libx.so.1 (libc6,x86-64) => /lib/libx.so.1". */
static bool find_in_cache(struct libraries *libraries, const char *name, size_t from) {
    const char *at = libraries->cache;
    size_t length = strlen(name);
    bool found = false;
    while (at && (at = strchr(at, '\t'))) {
        at++;
        size_t line = strcspn(at, "\n");
        const char *path = memmem(at, line, " => ", 4);
        char copy[PATH_MAX];
        if (path && strncmp(at, name, length) == 0 && at[length] == ' ' && memmem(at, line, "x86-64", 6) &&
            snprintf(copy, sizeof copy, "%.*s", (int)(at + line - path - 4), path + 4) < (int)sizeof copy) {
            found = add_path(libraries, copy, from) || found;
        }
        at += line;
    }
    return found;
}

/* ---- searching -------------------------------------------------------------------------------------------------- */

static bool has_name(const struct libraries *libraries, const char *name) {
    for (size_t i = 0; i < libraries->names; i++) {
        if (strcmp(libraries->name[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool add_name(struct libraries *libraries, const char *name) {
    char **added = libraries->names < MOST_NAMES
                       ? array_grow(&libraries->name, &libraries->name_room, libraries->names, sizeof *added)
                       : NULL;
    char *copy = added ? strdup(name) : NULL;
    if (!copy) {
        return false;
    }
    *added = copy;
    libraries->names++;
    return true;
}

static bool find_by_rpath(struct libraries *libraries, const char *name, size_t from) {
    for (size_t owner = from;; owner = libraries->file[owner].from) {
        const struct needs *needs = libraries->file[owner].needs;
        if (needs->rpath && !needs->runpath &&
            find_in_folders(libraries, needs->text + needs->rpath, owner, name, from)) {
            return true;
        }
        if (libraries->file[owner].from == owner) {
            return false;
        }
    }
}

static bool find_by_path(struct libraries *libraries, const char *name, size_t from) {
    char origin[PATH_MAX], path[PATH_MAX];
    libraries_folder_of(libraries->file[from].file.fd, origin);
    for (int i = 0; i < LIB_FOLDERS; i++) {
        if (expand(name, strlen(name), origin, lib_folders[i], path) && add_path(libraries, path, from)) {
            return true;
        }
    }
    return false;
}

static bool find_by_name(struct libraries *libraries, const char *name, const char *runpath, const char *loader,
                         size_t from) {
    bool found = (!runpath && find_by_rpath(libraries, name, from)) ||
                 find_in_folders(libraries, libraries->environment.library_path, from, name, from) ||
                 find_in_folders(libraries, runpath, from, name, from) || find_in_cache(libraries, name, from) ||
                 find_in_folders(libraries, default_folders, from, name, from);
    const char *slash = strrchr(loader, '/');
    if (!found && slash) {
        /* A system that keeps its C library elsewhere keeps the loader and the libraries together. */
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - loader), loader);
        found = find_in_folder(libraries, folder, name, from);
    }
    return found;
}

/* A loader looks for each name once. */
static void find_library(struct libraries *libraries, const char *name, const char *runpath, const char *loader,
                         size_t from) {
    bool found = strchr(name, '/') ? find_by_path(libraries, name, from)
                 : has_name(libraries, name)
                     ? true
                     : add_name(libraries, name) && find_by_name(libraries, name, runpath, loader, from);
    libraries->is_partial = libraries->is_partial || !found;
}

/* NULL: none. */
static const char *runpath_of(const struct needs *needs) {
    return needs->runpath ? needs->text + needs->runpath : NULL;
}

/* Names separated by white space or colons, in LD_PRELOAD and /etc/ld.so.preload. */
static void find_preloaded(struct libraries *libraries, const char *names, const struct needs *needs, size_t from) {
    static const char between[] = ": \t\n";
    while (names && *(names += strspn(names, between))) {
        size_t length = strcspn(names, between);
        char *name = strndup(names, length);
        if (name) {
            find_library(libraries, name, runpath_of(needs), needs->text + needs->interpreter, from);
        }
        free(name);
        names += length;
    }
}

/* Adds what one file needs. */
static void find_needed(struct libraries *libraries, size_t from, const char *loader) {
    const struct needs *needs = libraries->file[from].needs;
    for (uint32_t i = 0; i < needs->libraries; i++) {
        find_library(libraries, needs->text + needs->library[i], runpath_of(needs), loader, from);
    }
}

static void clear_names(struct libraries *libraries) {
    for (size_t i = 0; i < libraries->names; i++) {
        free(libraries->name[i]);
    }
    free(libraries->name);
    libraries->name = NULL;
    libraries->names = 0;
}

/* Adds a program, or what interprets it, without its libraries. Takes the file. */
static bool add_program(struct libraries *libraries, uint32_t user, const char *path, struct regular *file) {
    char interpreter[PATH_MAX];
    struct needs needs;
    uint32_t rights = user;
    bool is_read = read_needs(libraries, path, file, &needs);
    for (int depth = 0; is_read && needs.is_script && depth < MOST_INTERPRETERS; depth++) {
        rights = user_of(file, rights);
        regular_close(file);
        snprintf(interpreter, sizeof interpreter, "%s", needs.text + needs.interpreter);
        path = interpreter;
        is_read = open_named(libraries, rights, path, true, file) && read_needs(libraries, path, file, &needs);
    }
    if (is_read && !needs.is_script && !is_known(libraries, file)) {
        return add_file(libraries, path, file, libraries->count, rights, &needs);
    }
    regular_close(file);
    return false;
}

bool libraries_add(struct libraries *libraries, const char *path, struct regular *file,
                   const struct loader_environment *environment) {
    size_t first = libraries->count;
    const struct loader_environment own = {getenv("LD_LIBRARY_PATH"), getenv("LD_PRELOAD"), true, true};
    libraries->environment = environment ? *environment : own;
    clear_names(libraries); /* another program may find other files by them */
    if (!add_program(libraries, libraries->budget.user, path, file)) {
        return false;
    }
    const struct needs *needs = libraries->file[first].needs;
    libraries->is_partial = libraries->is_partial || (!needs->is_static && needs->interpreter == 0); /* a loader */
    if (needs->interpreter == 0) {
        return true;
    }
    const char *loader = needs->text + needs->interpreter;
    libraries->is_partial = libraries->is_partial || !libraries->environment.is_known;
    add_path(libraries, loader, first);
    find_preloaded(libraries, libraries->environment.preload, needs, first);
    find_preloaded(libraries, libraries->preload, needs, first);
    for (size_t i = first; i < libraries->count; i++) {
        find_needed(libraries, i, loader);
    }
    return true;
}

void libraries_open(struct libraries *libraries, struct inspect *inspect) {
    libraries->inspect = inspect;
    libraries->budget.opened_ns = now_ns();
    libraries->cache = read_cache();
    libraries->preload = read_preload_file();
}

void libraries_empty(struct libraries *libraries) {
    for (size_t i = 0; i < libraries->count; i++) {
        regular_close(&libraries->file[i].file);
        free(libraries->file[i].path);
        free(libraries->file[i].needs);
    }
    clear_names(libraries);
    libraries->count = libraries->opened = 0;
    libraries->budget.is_unread = libraries->is_partial = false;
}

void libraries_clear(struct libraries *libraries) {
    libraries_empty(libraries);
    free(libraries->cache);
    free(libraries->preload);
    free(libraries->budgets);
    *libraries = (struct libraries){0};
}
