/* Beginning and end of a recording: its file, its connection, what it says of itself.
 *
 * 1. Purpose
 *
 * Nothing that stands at the path is lost before tracing works, and then only a recording, or with --force a file.
 * SQLite reads and writes no file that this recorder did not make.
 *
 * 2. Algorithm
 *
 * The file has no name at first (replace.h), and its connection works on its descriptor (recording_vfs.h).
 * recorder_publish makes an empty journal, without a name likewise. recorder_put_in_place names the journal and the
 * file, and from then on transactions go through that journal, which each commit empties. The end removes it.
 *
 * If nothing is at the path, or an empty file, recorder_publish puts the file in place. Any other file stays until the
 * first heap, event or batch is committed (recording_write.c). The process has no rights then: it can name files that
 * it has open, and open none to write.
 *
 * A recorder that was killed within a transaction left a hot journal beside its recording. Renaming over that would
 * leave the new file with the old one's journal. So the old recording is first replaced by a copy in which its journal
 * is undone; undoing it once more changes nothing, so a kill between any two steps loses nothing.
 *
 * 3. Invariants
 *
 * I1. Whatever ends the recorder, and whenever: at the path stands the old recording or the new one, whole as of its
 * last commit, where needed with its own journal.
 * I2. No file beside the path is removed or written but an empty journal, and the hot journal of a recording, both of
 * the caller, of root or of the user who ran sudo, which nobody else may write to. Any other -journal, -wal or -shm is
 * named, and nothing is recorded.
 * I3. Leftovers are swept only if they were never published: user_version is 0 until then, and no copy or backup of a
 * recording has that. Besides: no lock, our id, the caller's. Empty files stay: what fills them may be under way.
 * I4. A file with content is replaced only by a recording with a heap, an event or a batch. */
#include "eden_version.h"
#include "recording/recorder.h"
#include "util/clock.h"
#include "util/command_line.h"
#include "util/mark.h"
#include "util/message.h"
#include "util/owner.h"
#include "util/room.h"
#include "util/share.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

void recorder_bind(sqlite3_stmt *statement, int place, uint64_t value) {
    sqlite3_bind_int64(statement, place, (sqlite3_int64)value);
}

void recorder_bind_text(sqlite3_stmt *statement, int place, const char *text, size_t most) {
    sqlite3_bind_text(statement, place, text, (int)strnlen(text, most), SQLITE_STATIC);
}

int recorder_write_meta(struct recorder *recorder, const char *key, uint64_t value) {
    recorder_bind_text(recorder->meta, 1, key, 64);
    recorder_bind(recorder->meta, 2, value);
    return sql_step(recorder->meta);
}

static int write_meta_text(struct recorder *recorder, const char *key, const char *value) {
    recorder_bind_text(recorder->meta, 1, key, 64);
    recorder_bind_text(recorder->meta, 2, value, COMMAND_MOST);
    return sql_step(recorder->meta);
}

int recorder_write_cut(struct recorder *recorder, enum recording_cut cut) {
    return write_meta_text(recorder, "cut_short_by", recording_cut_names[cut]);
}

static void close_database(struct recorder *recorder) {
    sqlite3_stmt **statements[] = {
        &recorder->event,         &recorder->pause,          &recorder->class,       &recorder->parameter,
        &recorder->process,       &recorder->heap,           &recorder->phase,       &recorder->bucket,
        &recorder->forget_phases, &recorder->forget_buckets, &recorder->forget_heap, &recorder->meta,
        &recorder->batch,
    };
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        sqlite3_finalize(*statements[i]);
        *statements[i] = NULL;
    }
    sqlite3_close(recorder->db);
    recording_vfs_end(&recorder->vfs);
    recorder->db = NULL;
}

const char *recorder_elsewhere(const struct recorder *recorder) {
    return recorder->options.is_temporary ? "set TMPDIR to a folder with more room" : "name another file with -o";
}

bool recorder_fail_sql(struct recorder *recorder, const char *doing, struct failure *why) {
    int code = recorder->db ? sqlite3_errcode(recorder->db) : SQLITE_NOMEM;
    if (recorder->vfs.error) {
        char text[ROOM_TEXT];
        const bool is_limit = recorder->vfs.error == EFBIG; /* which no other file cures */
        return failure_set(why, 1, "%.200s: %s: %s%s%s", recorder->path, doing, room_error(recorder->vfs.error, text),
                           is_limit ? "" : "; free some disk space, or ", is_limit ? "" : recorder_elsewhere(recorder));
    }
    if (code == SQLITE_FULL) {
        return failure_set(why, 1, "%.200s: %s: it has reached its size limit; --max-size sets another", recorder->path,
                           doing);
    }
    recording_fail_sql(why, recorder->path, doing, recorder->db);
    return false;
}

/* synchronous=OFF: a recording must not make the disk wait on the program it observes, and need not. What is written is
 * with the kernel, which keeps it whatever happens to this process; only a crash of the whole machine can spoil the
 * file, and then what was to be learnt is gone anyway. cache_spill=OFF: the file changes within COMMIT only. Before the
 * file is published there is nothing to undo. */
static int open_database(struct recorder *recorder) {
    recorder->vfs = (struct recording_vfs){.database = recorder->file.file, .journal = -1, .is_shared = true};
    int code = recording_vfs_open(&recorder->vfs, &recorder->db, true);
    if (code == SQLITE_OK) {
        code = sql_run(recorder->db, "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_spill = OFF;"
                                     "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF");
    }
    return code;
}

static int limit_size(struct recorder *recorder, uint64_t most_bytes) {
    enum { PAGE = 4096 }; /* SQLite's default, and its limit is 2^32 - 2 of them */
    uint64_t pages = (most_bytes ? most_bytes : ROOM_MOST_BYTES) / PAGE;
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA max_page_count = %llu", (unsigned long long)(pages < UINT32_MAX ? pages : 0));
    return sql_run(recorder->db, sql);
}

_Static_assert(PAUSE_CAUSES == 6, "a row of phase has two times a cause, one of pause has one");

static int prepare(struct recorder *recorder) {
    char *heap = schema_insert_heap();
    if (!heap) {
        return SQLITE_NOMEM;
    }
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } all[] = {
        {&recorder->event, "INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
        {&recorder->pause, "INSERT INTO pause VALUES(?, ?,?,?,?,?,?, ?,?)"},
        {&recorder->class, "INSERT OR REPLACE INTO class VALUES(?,?,?,?,?,?,?)"},
        {&recorder->parameter, "INSERT OR REPLACE INTO parameter VALUES(?,?,?,?,?,?)"},
        {&recorder->process, "INSERT OR REPLACE INTO process VALUES(?,?,?,?,?,?,?)"},
        {&recorder->heap, heap},
        {&recorder->phase, "INSERT OR REPLACE INTO phase VALUES(?,?,?,?,?,?,?,?, ?,?,?,?,?,?,?,?,?,?,?,?, ?,?,?,?)"},
        {&recorder->bucket, "INSERT OR REPLACE INTO phase_histogram VALUES(?,?,?,?,?,?)"},
        {&recorder->forget_phases, "DELETE FROM phase WHERE heap = ?"},
        {&recorder->forget_buckets, "DELETE FROM phase_histogram WHERE heap = ?"},
        {&recorder->forget_heap, "DELETE FROM heap WHERE heap = ?"},
        {&recorder->meta, "INSERT OR REPLACE INTO meta VALUES(?,?)"},
        {&recorder->batch, "INSERT INTO life_batch VALUES(NULL,?,?,?,?,?,?,?,?,?)"},
    };
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && code == SQLITE_OK; i++) {
        code = sqlite3_prepare_v3(recorder->db, all[i].sql, -1, SQLITE_PREPARE_PERSISTENT, all[i].statement, NULL);
    }
    sqlite3_free(heap);
    return code;
}

static int write_first_meta(struct recorder *recorder, const struct recorder_options *options) {
    char *command = command_line_text(options->command);
    struct utsname host;
    if (uname(&host) != 0) {
        host = (struct utsname){.release = "unknown"};
    }
    int code = recorder_write_meta(recorder, "format_version", RECORDING_VERSION);
    code = code == SQLITE_OK ? write_meta_text(recorder, "tool", EDEN_VERSION) : code;
    code = code == SQLITE_OK ? write_meta_text(recorder, "kernel", host.release) : code;
    code = code == SQLITE_OK ? write_meta_text(recorder, "command", command ? command : "") : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "pid", (uint64_t)options->pid) : code;
    code = code == SQLITE_OK && options->selected ? write_meta_text(recorder, "selected", options->selected) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "start_ns", clock_ns(CLOCK_REALTIME)) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "mono_ns", clock_ns(CLOCK_MONOTONIC)) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "commit_ns", clock_ns(CLOCK_MONOTONIC)) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "objects", options->objects) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "lifetimes", options->lifetimes) : code;
    code = code == SQLITE_OK ? recorder_write_cut(recorder, CUT_UNKNOWN) : code;
    static const char *const zeros[] = {"events", "finished", "lost", "lost_records", "missed_children", "wall_ns"};
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0] && code == SQLITE_OK; i++) {
        code = recorder_write_meta(recorder, zeros[i], 0);
    }
    free(command);
    return code;
}

/* ---- what stands there ------------------------------------------------------------------------------------------ */

/* The recording that is to be replaced, with its journal; -1: there is none. */
struct standing {
    int file, journal;
    struct file_look look;
};

static void close_standing(struct standing *standing) {
    if (standing->file >= 0) {
        close(standing->file);
    }
    if (standing->journal >= 0) {
        close(standing->journal);
    }
}

static bool may_replace(const struct file_look *look, const struct recorder_options *options, struct failure *why) {
    if (!look->is_regular) {
        return failure_set(why, 1, "%.200s: not a regular file; name another one with -o", options->path);
    }
    if (look->is_live) {
        return failure_set(why, 1, "%.200s: another edenscope is recording to it; name another file with -o",
                           options->path);
    }
    if (options->force) {
        return true;
    }
    if (look->kind == FILE_OTHER) {
        return failure_set(why, 1,
                           "%.200s: exists and is not a recording, so it is not replaced; name another file with -o, "
                           "or replace it with --force",
                           options->path);
    }
    return owner_is_trusted(look->owner) ||
           failure_set(why, 1, "%.200s: belongs to another user; name another file with -o, or replace it with --force",
                       options->path);
}

static bool open_standing(struct recorder *recorder, const struct recorder_options *options, struct standing *standing,
                          struct failure *why) {
    standing->file = place_open_file(&recorder->file.place, O_RDONLY | O_NONBLOCK, 0);
    if (standing->file < 0) {
        struct stat status;
        bool is_gone = errno == ENOENT;
        bool is_forced =
            options->force && errno == EACCES &&
            fstatat(recorder->file.place.folder, recorder->file.place.name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode);
        return is_gone || is_forced || failure_set(why, 1, "%.200s: %m; name another file with -o", options->path);
    }
    standing->look = file_look(standing->file);
    return may_replace(&standing->look, options, why);
}

/* Whether it can be the journal of what stands there: empty, as a killed recorder leaves it, or hot. */
static bool is_journal(const struct standing *standing, const struct place *place, const char *name) {
    struct stat status;
    if (fstat(standing->journal, &status) != 0 || !S_ISREG(status.st_mode) || !owner_is_trusted(status.st_uid) ||
        !owner_writes_alone(&status) || place_is_strangers_link(place, name, standing->journal)) {
        return false;
    }
    return status.st_size == 0 || (standing->look.kind == FILE_RECORDING && status.st_uid == standing->look.owner &&
                                   mark_is_journal(standing->journal));
}

/* SQLite takes what stands under these names for its own, and the recording's readers do. */
static bool check_beside(struct recorder *recorder, struct standing *standing, struct failure *why) {
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[NAME_MAX + 1];
        struct stat status;
        if (!file_beside(name, recorder->file.place.name, suffixes[i])) {
            return failure_set(why, 1, "%.200s...: the name is too long; name another file with -o", recorder->path);
        }
        if (fstatat(recorder->file.place.folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) {
            continue;
        }
        if (i == 2) {
            standing->journal =
                openat(recorder->file.place.folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
        }
        if (standing->journal < 0 || !is_journal(standing, &recorder->file.place, name)) {
            return failure_set(why, 1,
                               "%.200s%s: stands beside the new recording, and SQLite would mix them up; name another "
                               "file with -o, or move it elsewhere with the recording that it may be a part of",
                               recorder->path, suffixes[i]);
        }
    }
    return true;
}

/* Looks at all that stands there. The descriptors are the caller's in any case. */
static bool look_around(struct recorder *recorder, const struct recorder_options *options, struct standing *standing,
                        struct failure *why) {
    *standing = (struct standing){.file = -1, .journal = -1};
    return open_standing(recorder, options, standing, why) && check_beside(recorder, standing, why);
}

/* ---- leftovers -------------------------------------------------------------------------------------------------- */

/* NAME.XXXXXX, as replace.h names files. */
static bool is_temporary_name(const void *context, const char *name) {
    const struct place *place = context;
    size_t length = strlen(place->name);
    return strncmp(name, place->name, length) == 0 && name[length] == '.' && strlen(name + length + 1) == 6 &&
           strspn(name + length + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == 6;
}

/* Removes what a recorder left that was killed before it published. */
static void remove_leftover(void *context, const char *name, int file) {
    const struct recorder *recorder = context;
    struct file_look look = file_look(file);
    if (look.kind == FILE_RECORDING && look.version == 0 && look.owner == geteuid() && !look.is_live &&
        strcmp(name, recorder->file.temporary) != 0) {
        unlinkat(recorder->file.place.folder, name, 0);
    }
}

/* ---- beginning -------------------------------------------------------------------------------------------------- */

static int fill_file(struct recorder *recorder, const struct recorder_options *options) {
    int code = open_database(recorder);
    code = code == SQLITE_OK ? limit_size(recorder, options->most_bytes) : code;
    code = code == SQLITE_OK ? sql_run(recorder->db, "BEGIN") : code;
    code = code == SQLITE_OK ? schema_create(recorder->db) : code;
    code = code == SQLITE_OK ? prepare(recorder) : code;
    code = code == SQLITE_OK ? write_first_meta(recorder, options) : code;
    return code == SQLITE_OK ? sql_run(recorder->db, "COMMIT") : code;
}

/* Asks the kernel alone: a walk along the path could wait for whoever has mounted something there. */
static void name_folder(const struct recorder *recorder, struct folder_name *name) {
    char link[64], current[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", recorder->file.place.folder);
    ssize_t length = readlink(link, name->path, sizeof name->path - 1);
    name->path[length > 0 ? length : 0] = '\0';
    /* Below the current folder, which may be renamed as well: a relative path still leads there. */
    length = recorder->path[0] == '/' ? 0 : readlink("/proc/self/cwd", current, sizeof current);
    name->from = length > 0 && strncmp(name->path, current, (size_t)length) == 0 ? (size_t)length : 0;
}

struct recorder *recorder_create(const struct recorder_options *options, struct failure *why) {
    struct recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder) {
        failure_set(why, 1, "out of memory");
        return NULL;
    }
    recorder->journal = -1;
    recorder->options = *options;
    struct standing standing = {.file = -1, .journal = -1};
    bool good = replace_open(&recorder->file, "-o", options->path, why);
    memcpy(recorder->path, recorder->file.path, sizeof recorder->path);
    good = good && look_around(recorder, options, &standing, why);
    close_standing(&standing);
    if (good) {
        name_folder(recorder, &recorder->folder);
    }
    good = good && (options->is_temporary ||
                    share_with(recorder->file.file, recorder->file.place.folder, options->reader, options->path, why));
    if (good) {
        place_each_file(&recorder->file.place, is_temporary_name, true, remove_leftover, recorder);
        good = recording_vfs_lock_live(recorder->file.file) ||
               failure_set(why, 1, "%.200s: cannot lock it: %m", options->path);
    }
    if (good && fill_file(recorder, options) != SQLITE_OK) {
        good = recorder_fail_sql(recorder, "cannot create a recording", why);
    }
    if (!good) {
        recorder_close(recorder);
        return NULL;
    }
    return recorder;
}

/* ---- publishing ------------------------------------------------------------------------------------------------- */

static bool undo(struct replacement *copy, int journal, const char *path, struct failure *why) {
    struct recording_vfs vfs = {.database = copy->file, .journal = journal, .is_restored = true};
    sqlite3 *db = NULL;
    int code = recording_vfs_open(&vfs, &db, true);
    code = code == SQLITE_OK ? sql_run(db, "PRAGMA user_version") : code; /* any read undoes it; this parses no more */
    if (code != SQLITE_OK) {
        recording_fail_sql(why, path, "its recorder was killed during a write, and rolling that write back failed", db);
    }
    sqlite3_close(db);
    recording_vfs_end(&vfs);
    return code == SQLITE_OK;
}

/* Replaces a recording that was cut short by a copy in which its journal is undone. */
static bool recover(struct recorder *recorder, const struct standing *standing, struct failure *why) {
    struct replacement copy;
    int journal = -1;
    if (!replace_open_beside(&copy, &recorder->file, why)) {
        return false;
    }
    bool good =
        file_copy(standing->file, standing->journal, copy.file, "its folder", &journal, recorder->path, why) &&
        (journal < 0 || undo(&copy, journal, recorder->path, why)) &&
        (recording_vfs_lock_live(copy.file) || failure_set(why, 1, "%.200s: cannot lock it: %m", recorder->path));
    if (good) {
        share_like(copy.file, standing->file); /* where that can't be, the caller reads it alone */
        good = replace_publish(&copy, why);
        fstat(copy.file, &recorder->file.found); /* what may be replaced from now on */
    }
    if (journal >= 0) {
        close(journal);
    }
    replace_abandon(&copy);
    return good;
}

/* Leaves no journal beside the path. */
static bool clear_journal(struct recorder *recorder, const struct standing *standing, const char *journal,
                          struct failure *why) {
    struct stat status;
    if (standing->journal < 0) {
        return true;
    }
    if (fstat(standing->journal, &status) != 0 || (status.st_size > 0 && !recover(recorder, standing, why))) {
        return false;
    }
    if (!place_names(recorder->file.place.folder, journal, standing->journal)) {
        return failure_set(why, 1,
                           "%.200s-journal: another program has put a file there, or removed it, meanwhile; name "
                           "another file with -o",
                           recorder->path);
    }
    return unlinkat(recorder->file.place.folder, journal, 0) == 0 ||
           failure_set(why, 1, "%.200s-journal: cannot be removed: %m", recorder->path);
}

static bool fail_journal(const struct recorder *recorder, struct failure *why) {
    return failure_set(why, 1, "%.200s-journal: cannot be created: %m; name another file with -o", recorder->path);
}

/* Makes an empty journal, without a name if the file system has such files. So the old recording has none beside it.
 * Who may read the recording needs the journal, too. */
static bool make_journal(struct recorder *recorder, const struct standing *standing, struct failure *why) {
    char name[NAME_MAX + 1];
    int folder = recorder->file.place.folder;
    if (!file_beside(name, recorder->file.place.name, "-journal") || !clear_journal(recorder, standing, name, why)) {
        return false;
    }
    recorder->journal = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (recorder->journal < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
        recorder->journal = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    }
    bool good =
        recorder->journal >= 0 && (share_like(recorder->journal, recorder->file.file) || !recorder->options.reader);
    return good || fail_journal(recorder, why);
}

/* Names the journal, unless it was made with its name. */
static bool name_journal(const struct recorder *recorder, struct failure *why) {
    char name[NAME_MAX + 1], self[32];
    snprintf(self, sizeof self, "/proc/self/fd/%d", recorder->journal);
    if (file_beside(name, recorder->file.place.name, "-journal") &&
        linkat(AT_FDCWD, self, recorder->file.place.folder, name, AT_SYMLINK_FOLLOW) == 0) {
        return true;
    }
    int error = errno;
    bool has_name = place_names(recorder->file.place.folder, name, recorder->journal);
    errno = error;
    return has_name || fail_journal(recorder, why);
}

/* SQLite files that came since recorder_publish looked. */
static bool is_clear_beside(struct recorder *recorder, struct failure *why) {
    struct standing standing = {.file = -1, .journal = -1};
    bool good = check_beside(recorder, &standing, why);
    close_standing(&standing);
    return good;
}

/* From now on it is no leftover. */
static bool set_version(struct recorder *recorder, struct failure *why) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", RECORDING_VERSION);
    return sql_run(recorder->db, sql) == SQLITE_OK || recorder_fail_sql(recorder, "cannot publish the recording", why);
}

bool recorder_put_in_place(struct recorder *recorder, struct failure *why) {
    if (!replace_is_as_it_was(&recorder->file, why) || !is_clear_beside(recorder, why) || !set_version(recorder, why) ||
        !name_journal(recorder, why) || !replace_publish(&recorder->file, why)) {
        return false;
    }
    recorder->published = true;
    recorder->vfs.journal = recorder->journal;
    return sql_run(recorder->db, "PRAGMA journal_mode = TRUNCATE") == SQLITE_OK ||
           recorder_fail_sql(recorder, "cannot continue the recording", why);
}

bool recorder_publish(struct recorder *recorder, struct failure *why) {
    struct standing standing;
    if (!replace_look(&recorder->file, why)) {
        return false;
    }
    bool good = look_around(recorder, &recorder->options, &standing, why) && recorder_has_room(recorder, 0, why) &&
                make_journal(recorder, &standing, why);
    close_standing(&standing);
    bool is_kept = recorder->file.is_taken && recorder->file.found.st_size != 0;
    return good && (is_kept || recorder_put_in_place(recorder, why));
}

bool recorder_is_published(const struct recorder *recorder) { return recorder->published; }

int recorder_folder(const struct recorder *recorder) { return recorder->file.place.folder; }

bool recorder_is_in_place(const struct recorder *recorder) {
    return place_names(recorder->file.place.folder, recorder->file.place.name, recorder->file.file);
}

bool recorder_is_at_path(const struct recorder *recorder, char folder[PATH_MAX]) {
    struct folder_name now;
    name_folder(recorder, &now);
    memcpy(folder, now.path, sizeof now.path);
    return strcmp(now.path + now.from, recorder->folder.path + recorder->folder.from) == 0;
}

/* Removes the journal, unless it still has something to undo, or another file stands there now. */
static void remove_journal(const struct recorder *recorder) {
    char name[NAME_MAX + 1];
    struct stat own;
    if (recorder->journal >= 0 && file_beside(name, recorder->file.place.name, "-journal") &&
        fstat(recorder->journal, &own) == 0 && own.st_size == 0 &&
        place_names(recorder->file.place.folder, name, recorder->journal)) {
        unlinkat(recorder->file.place.folder, name, 0);
    }
}

void recorder_close(struct recorder *recorder) {
    if (!recorder) {
        return;
    }
    close_database(recorder);
    if (recorder->file.is_open) {
        remove_journal(recorder);
    }
    if (recorder->journal >= 0) {
        close(recorder->journal);
    }
    replace_abandon(&recorder->file);
    free(recorder->pending);
    free(recorder->batches.at);
    recorder_forget_processes(recorder);
    free(recorder->written);
    free(recorder);
}
