/* Files with probes: looked into once, however many processes map them, and attached to once a process and file.
 *
 * A file is known by device, inode and time of change: the inode of a deleted file comes again. Its sites become specs
 * in the kernel program's table, which all attachments to it share; an attachment's cookies say which spec a site has.
 * A site whose arguments can't be fetched is left out with a word about it, and what it would have told is then unknown
 * rather than 0. */
#include "operand.h"
#include "probe_table.h"
#include "source_parts.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_excluded(const struct source *source, const char *probe) {
    const char *at = source->options.without;
    size_t length = strlen(probe);
    while (at && *at) {
        size_t word = strcspn(at, ",");
        if (word == length && strncmp(at, probe, length) == 0) {
            return true;
        }
        at += word + (at[word] == ',');
    }
    return false;
}

/* Makes the spec of one site. False: not attached to, for a reason that verbose tells. */
static bool make_spec(const struct source *source, const struct file *file, const struct note *note,
                      struct probe_spec *spec) {
    int found = probe_find(note->name);
    enum eden_probe_id probe = (enum eden_probe_id)found;
    if (found < 0 || is_excluded(source, note->name) || (probe_per_object(probe) && !source->options.objects)) {
        return false;
    }
    char why[160];
    *spec = (struct probe_spec){.probe = (uint16_t)probe, .phase = KERNEL_NO_PHASE, .file = source->files};
    int args = operands_parse(note->args, spec->arg, why, sizeof why);
    if (args <= 0) {
        fprintf(stderr, "edenscope: %s: probe %s is left out: %s\n", file->name, note->name,
                args < 0 ? why : "it passes no heap");
        return false;
    }
    spec->args = (uint8_t)args;
    int phase = probe_phase(probe);
    if (phase >= 0 && args > 2) {
        spec->phase = (uint8_t)phase;
        spec->two_more = phase != EDEN_PHASE_scavenge && phase != EDEN_PHASE_full && args > 4;
    }
    for (int i = 0; i < args && i < probe_table[probe].args; i++) {
        if (probe_table[probe].arg[i].kind == ARG_string && spec->strings < 2) {
            spec->string_at[spec->strings++] = (uint8_t)i;
        }
    }
    return true;
}

static bool fill_file(struct source *source, struct file *file, struct failure *why) {
    size_t count = file->notes.count;
    file->site = calloc(count ? count : 1, sizeof *file->site);
    file->semaphore = calloc(count ? count : 1, sizeof *file->semaphore);
    if (!file->site || !file->semaphore) {
        return failure_set(why, 1, "out of memory");
    }
    file->first_spec = source->specs;
    for (size_t i = 0; i < count; i++) {
        const struct note *note = &file->notes.note[i];
        struct probe_spec spec;
        if (strcmp(note->name, "heap__create") == 0) {
            file->registry = note->semaphore_address;
        }
        if (!make_spec(source, file, note, &spec)) {
            continue;
        }
        if (!kernel_set_spec(source->kernel, source->specs, &spec, why)) {
            return false;
        }
        file->site[file->sites] = note->offset;
        file->semaphore[file->sites++] = note->semaphore;
        file->args[spec.probe] = spec.args;
        source->specs++;
    }
    return true;
}

/* The file's number, looked into if it was not yet. -1 and why where that fails. */
int64_t source_add_file(struct source *source, int fd, const char *name, struct failure *why) {
    struct stat status;
    if (fstat(fd, &status) != 0) {
        failure_set(why, 1, "%.300s: %s", name, strerror(errno));
        return -1;
    }
    for (uint32_t i = 0; i < source->files; i++) {
        if (source->file[i].device == status.st_dev && source->file[i].inode == status.st_ino &&
            source->file[i].changed.tv_sec == status.st_mtim.tv_sec &&
            source->file[i].changed.tv_nsec == status.st_mtim.tv_nsec) {
            return i;
        }
    }
    struct file *grown = realloc(source->file, (source->files + 1) * sizeof *grown);
    if (!grown) {
        failure_set(why, 1, "out of memory");
        return -1;
    }
    source->file = grown;
    struct file *file = &grown[source->files];
    *file =
        (struct file){.device = status.st_dev, .inode = status.st_ino, .changed = status.st_mtim, .name = strdup(name)};
    if (!file->name) {
        failure_set(why, 1, "out of memory");
        return -1;
    }
    enum notes_result result = notes_read(fd, name, "eden", &file->notes, why->message, sizeof why->message);
    /* A broken file is told once and then left alone: the process can do without it, so can we. */
    if (result == NOTES_BAD && source->options.verbose) {
        fprintf(stderr, "edenscope: %s\n", why->message);
    }
    bool filled = result != NOTES_READ || fill_file(source, file, why);
    source->files++;
    return filled ? (int64_t)source->files - 1 : -1;
}

void source_clear_file(struct file *file) {
    free(file->name);
    free(file->site);
    free(file->semaphore);
    notes_clear(&file->notes);
}

static bool is_attached(const struct observed *observed, uint32_t file) {
    for (size_t i = 0; i < observed->attachments; i++) {
        if (observed->file[i] == file) {
            return true;
        }
    }
    return false;
}

bool source_attach(struct source *source, struct observed *observed, uint32_t number, int fd, struct failure *why) {
    const struct file *file = &source->file[number];
    if (file->sites == 0 || is_attached(observed, number)) {
        return true;
    }
    uint32_t *files = realloc(observed->file, (observed->attachments + 1) * sizeof *files);
    observed->file = files ? files : observed->file;
    struct attachment **attachments =
        realloc(observed->attachment, (observed->attachments + 1) * sizeof(struct attachment *));
    observed->attachment = attachments ? attachments : observed->attachment;
    uint64_t *cookie = calloc(file->sites, sizeof *cookie);
    if (!files || !attachments || !cookie) {
        free(cookie);
        return failure_set(why, 1, "out of memory");
    }
    uint32_t target = source->targets;
    for (uint32_t i = 0; i < file->sites; i++) {
        cookie[i] = kernel_cookie(target, file->first_spec + i);
    }
    struct attachment_request request = {fd,     file->name, (int)observed->key.pid, file->site, file->semaphore,
                                         cookie, file->sites};
    struct attachment *attachment = kernel_attach(source->kernel, &request, why);
    free(cookie);
    if (!attachment) {
        return false;
    }
    source->targets++; /* not before: who can't be attached to is tried again and again */
    observed->file[observed->attachments] = number;
    observed->attachment[observed->attachments++] = attachment;
    if (source->options.verbose) {
        fprintf(stderr, "edenscope: process %u: attached to %u probes of %s\n", observed->key.pid, file->sites,
                file->name);
    }
    return kernel_arm(source->kernel, target, why);
}
