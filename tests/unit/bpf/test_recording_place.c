/* Where a recording is put, and what is there: files that are not recordings are neither read nor overwritten,
 * files beside a recording are left alone, and files of other users take --force. */
#include "recording_builder.h"
#include "util/place.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void commit_event(struct recorder *recorder) {
    struct model model = {0};
    struct event event = make_event(EDEN_PROBE_mark__start, 1, 0x1000, 0);
    add(recorder, &event);
    commit(recorder, &model, false);
}

/* The same, where something stands in the way by now. */
static void assert_stays_unpublished(struct recorder *recorder, const char *reason) {
    struct failure why = {0};
    struct model model = {0};
    struct event event = make_event(EDEN_PROBE_mark__start, 1, 0x1000, 0);
    add(recorder, &event);
    assert_false(recorder_commit(recorder, &model, false, &why));
    assert_non_null(strstr(why.message, reason));
    assert_false(recorder_is_published(recorder));
    recorder_close(recorder);
}

static void assert_holds(const char *path, const char *text) {
    size_t size;
    unsigned char *bytes = read_file(path, &size);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(bytes, text, size);
    free(bytes);
}

/* ---- at its path ------------------------------------------------------------------------------------------------- */

TEST(other_files_are_left_alone) {
    struct failure why = {0};
    write_file("letter.txt", "Dear Sir", 8);
    assert_null(create("letter.txt", false, &why));
    assert_int_equal(why.status, 1);
    assert_non_null(strstr(why.message, "letter.txt"));
    assert_non_null(strstr(why.message, "--force"));
    size_t size;
    unsigned char *bytes = read_file("letter.txt", &size);
    assert_int_equal(size, 8);
    assert_memory_equal(bytes, "Dear Sir", 8);
    free(bytes);

    struct recorder *recorder = create("letter.txt", true, &why);
    assert_non_null(recorder);
    assert_true(recorder_publish(recorder, &why));
    commit_event(recorder);
    recorder_close(recorder);
    recording_close(open_good("letter.txt"));

    assert_null(create(".", false, &why));
    assert_null(create("/dev/null", true, &why));
    assert_null(create("no/such/folder.data", false, &why));
    assert_null(create("", false, &why));
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_null(create("pipe", true, &why));
    assert_null(recording_open("pipe", &why));
    assert_null(recording_open(".", &why));
    assert_null(recording_open("missing.data", &why));
    assert_null(recording_open(":memory:", &why));
    write_file("empty.data", "", 0);
    assert_null(recording_open("empty.data", &why));
    recorder_close(begin("empty.data")); /* nothing is lost with an empty file */
}

TEST(old_recording_stays_until_the_new_is_published) {
    struct failure why = {0};
    __attribute__((cleanup(model_clear))) struct model model = {0}, read = {0};
    struct recorder *recorder = begin("old.data");
    fill_model(&model, 5);
    commit(recorder, &model, true);
    recorder_close(recorder);

    recorder = create("old.data", false, &why);
    assert_non_null(recorder);
    struct recording *recording = open_good("old.data");
    assert_true(recording_model(recording, &read, &why));
    assert_same_model(&model, &read);
    recording_close(recording);
    recorder_close(recorder); /* tracing could not be attached */
    recording = open_good("old.data");
    assert_true(recording_info(recording)->finished);
    recording_close(recording);
    assert_int_equal(files_beside("old.data"), 1);

    recorder = begin("old.data");
    commit_event(recorder);
    assert_null(create("old.data", true, &why)); /* it is being recorded */
    assert_non_null(strstr(why.message, "another edenscope"));
    recorder_close(recorder);
    recording = open_good("old.data");
    assert_false(recording_info(recording)->finished);
    recording_close(recording);
    assert_int_equal(files_beside("old.data"), 1);
}

static void begin_old(const char *path) {
    struct recorder *recorder = begin(path);
    commit_event(recorder);
    recorder_close(recorder);
}

TEST(old_recording_stays_without_a_heap) {
    struct model model = {0};
    struct process_key key = process_key(100);
    size_t size, size_then;
    begin_old("stays.data");
    unsigned char *bytes = read_file("stays.data", &size);
    assert_non_null(model_process(&model, &key)); /* it has the probes, and makes no heap */
    struct recorder *recorder = begin("stays.data");
    commit(recorder, &model, false);
    assert_int_equal(files_beside("stays.data"), 1);
    commit(recorder, &model, true);
    assert_false(recorder_is_published(recorder));
    recorder_close(recorder);
    unsigned char *then = read_file("stays.data", &size_then);
    assert_int_equal(size, size_then);
    assert_memory_equal(bytes, then, size);
    assert_int_equal(files_beside("stays.data"), 1);
    recorder = begin("fresh.data"); /* nothing stands there */
    commit(recorder, &model, true);
    assert_true(recorder_is_published(recorder));
    recorder_close(recorder);
    recording_close(open_good("fresh.data"));

    assert_non_null(model_heap(model_process(&model, &key), (struct heap_ref){0x1000, 1, 0}));
    recorder = begin("stays.data");
    commit(recorder, &model, false);
    assert_true(recorder_is_published(recorder));
    assert_int_equal(files_beside("stays.data"), 2); /* and its journal */
    recorder_close(recorder);
    assert_int_equal(files_beside("stays.data"), 1);
    model_clear(&model);
    free(then);
    free(bytes);
}

TEST(old_recording_stays_where_the_first_write_fails) {
    struct failure why = {0};
    size_t size, size_then;
    begin_old("full.data");
    unsigned char *bytes = read_file("full.data", &size);
    struct recorder *recorder = begin("full.data");
    assert_int_equal(sqlite3_exec(recorder->db, "PRAGMA max_page_count = 1", NULL, NULL, NULL), SQLITE_OK);
    for (uint64_t i = 0; i < RECORDER_BATCH; i++) {
        struct event event = make_event(EDEN_PROBE_mark__start, i, 0x1000, 0);
        add(recorder, &event);
    }
    struct model model = {0};
    assert_false(recorder_commit(recorder, &model, false, &why));
    assert_non_null(strstr(why.message, "size limit"));
    assert_int_equal(recorder_written_count(recorder), 0);
    recorder_close(recorder);
    unsigned char *then = read_file("full.data", &size_then);
    assert_int_equal(size, size_then);
    assert_memory_equal(bytes, then, size);
    assert_int_equal(files_beside("full.data"), 1);
    free(then);
    free(bytes);
}

/* The old recording stands there until a heap is seen, and others may use its name meanwhile. */
TEST(what_comes_before_the_first_heap_is_left_alone) {
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    begin_old("waits.data");
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[64];
        snprintf(name, sizeof name, "waits.data%s", suffixes[i]);
        struct recorder *recorder = begin("waits.data");
        write_file(name, "a diary", 7);
        assert_stays_unpublished(recorder, suffixes[i]);
        assert_holds(name, "a diary");
        assert_int_equal(unlink(name), 0);
        recording_close(open_good("waits.data"));
    }
    struct recorder *recorder = begin("waits.data"), *other = begin("waits.data");
    commit_event(other);
    assert_stays_unpublished(recorder, "waits.data: another program");
    assert_true(recorder_is_in_place(other));
    commit_event(other);
    recorder_close(other);
    assert_int_equal(files_beside("waits.data"), 1);

    recorder = begin("waits.data");
    write_file("letter", "Dear Sir", 8);
    assert_int_equal(rename("letter", "waits.data"), 0);
    assert_stays_unpublished(recorder, "waits.data: another program");
    assert_holds("waits.data", "Dear Sir");
    assert_int_equal(unlink("waits.data"), 0);

    begin_old("waits.data");
    recorder = begin("waits.data");
    assert_int_equal(system("printf more >>waits.data"), 0);
    assert_stays_unpublished(recorder, "waits.data: another program");
    assert_int_equal(system("tail -c 4 waits.data | grep -q more"), 0);
    assert_int_equal(unlink("waits.data"), 0);

    begin_old("waits.data");
    recorder = begin("waits.data");
    assert_int_equal(unlink("waits.data"), 0); /* nothing is lost any more */
    commit_event(recorder);
    assert_true(recorder_is_in_place(recorder));
    recorder_close(recorder);
    recording_close(open_good("waits.data"));
    assert_int_equal(files_beside("waits.data"), 1);
}

TEST(link_is_followed) {
    recorder_close(begin("target.data"));
    assert_int_equal(symlink("target.data", "link.data"), 0);
    recorder_close(begin("link.data"));
    struct stat status;
    assert_int_equal(lstat("link.data", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    recording_close(open_good("link.data"));
}

/* ---- beside it --------------------------------------------------------------------------------------------------- */

/* A journal may name a file that SQLite then deletes: such a journal is not ours, and is never read. */
TEST(trap_in_the_journal_is_refused) {
    static const unsigned char mark[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char journal[1024];
    memset(journal, 'x', sizeof journal);
    memcpy(journal, mark, sizeof mark);
    memcpy(journal + sizeof journal - sizeof mark, mark, sizeof mark);
    recorder_close(begin("trap.data"));
    write_file("trap.data-journal", journal, sizeof journal);
    struct failure why = {0};
    assert_null(recording_open("trap.data", &why));
    assert_non_null(strstr(why.message, "journal"));
    struct recorder *recorder = create("trap.data", true, &why);
    assert_non_null(recorder);
    assert_false(recorder_publish(recorder, &why));
    assert_non_null(strstr(why.message, "trap.data-journal"));
    recorder_close(recorder);
    assert_int_equal(access("trap.data-journal", F_OK), 0);
    assert_int_equal(unlink("trap.data-journal"), 0);
    recording_close(open_good("trap.data"));
}

/* Whatever name SQLite finds in a file and asks for, nothing is opened, found or deleted by it. */
TEST(sqlite_reaches_no_file_by_name) {
    static const char *const names[] = {"letter", "letter-journal"};
    int database = open("database", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int journal = open("undo", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct recording_vfs vfs = {.database = database, .journal = journal};
    sqlite3 *db = NULL;
    assert_int_equal(recording_vfs_open(&vfs, &db, true), SQLITE_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int is_there = 1;
        sqlite3_file *file = calloc(1, (size_t)vfs.vfs.szOsFile);
        assert_non_null(file);
        write_file(names[i], "Dear Sir", 8);
        write_file("undo", "a page", 6);
        assert_int_not_equal(vfs.vfs.xOpen(&vfs.vfs, names[i], file, SQLITE_OPEN_SUPER_JOURNAL, NULL), SQLITE_OK);
        assert_int_equal(vfs.vfs.xAccess(&vfs.vfs, names[i], SQLITE_ACCESS_EXISTS, &is_there), SQLITE_OK);
        assert_false(is_there);
        vfs.vfs.xDelete(&vfs.vfs, names[i], 0);
        assert_holds(names[i], "Dear Sir");
        assert_holds("undo", i == 0 ? "a page" : ""); /* the journal is emptied, by whatever name */
        free(file);
    }
    sqlite3_close(db);
    recording_vfs_end(&vfs);
    close(journal);
    close(database);
}

/* SQLite would delete the one and read the other into the new recording. */
TEST(files_beside_are_named_and_left_alone) {
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    struct failure why = {0};
    for (int there = 0; there < 2; there++) { /* a recording stands there already, or not */
        if (there) {
            recorder_close(begin("beside.data"));
        }
        for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
            char name[64];
            snprintf(name, sizeof name, "beside.data%s", suffixes[i]);
            write_file(name, "a diary", 7);
            assert_null(create("beside.data", true, &why));
            assert_non_null(strstr(why.message, suffixes[i]));
            assert_holds(name, "a diary");
            if (there && i == 0) { /* what undoes a transaction, and is none, may be in the place of one */
                assert_null(recording_open("beside.data", &why));
                assert_non_null(strstr(why.message, "beside.data-journal: not a journal"));
            }
            assert_int_equal(unlink(name), 0);
            if (there) {
                recording_close(open_good("beside.data"));
            }

            /* It comes while tracing is attached. */
            struct recorder *recorder = create("beside.data", false, &why);
            assert_non_null(recorder);
            write_file(name, "a diary", 7);
            assert_false(recorder_publish(recorder, &why));
            recorder_close(recorder);
            assert_holds(name, "a diary");
            assert_int_equal(unlink(name), 0);
            assert_int_equal(access("beside.data", F_OK), there ? 0 : -1);
        }
    }
}

/* A write-ahead log whose frames replace each page of the recording: what an SQLite library would read. */
TEST(planted_log_is_not_read) {
    sqlite3 *db = NULL;
    struct failure why = {0};
    recorder_close(begin("planted.data"));
    recorder_close(begin("victim.data"));
    assert_int_equal(sqlite3_open("planted.data", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = WAL; UPDATE meta SET value = 'planted' WHERE key = 'tool'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(system("cp planted.data victim.data; cp planted.data-wal victim.data-wal"), 0);
    sqlite3_close(db);
    struct recording *recording = recording_open("victim.data", &why);
    assert_null(recording); /* a file in this mode can't be read without its log */
    assert_null(create("victim.data", true, &why));
    assert_non_null(strstr(why.message, "-wal"));
}

static void assert_is_recording(const char *path) { recording_close(open_good(path)); }

/* NAME.XXXXXX of recorders that were killed early go; what only looks like one stays. */
TEST(leftovers_are_swept) {
    struct failure why = {0};
    struct model model = {0};
    struct event event = make_event(EDEN_PROBE_mark__start, 1, 0x1000, 0);
    struct recorder *recorder = begin("kept.data");
    add(recorder, &event);
    commit(recorder, &model, true);
    recorder_close(recorder);
    /* Copies of a person, of six letters; SQLite writes its own in one transaction. */
    sqlite3 *db = NULL, *backup = NULL;
    assert_int_equal(system("cp kept.data swept.data.copied && cp kept.data swept.data.recovered-monday"), 0);
    assert_int_equal(sqlite3_open("kept.data", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "VACUUM INTO 'swept.data.vacuum'", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_open("swept.data.backup", &backup), SQLITE_OK);
    sqlite3_backup *copying = sqlite3_backup_init(backup, "main", db, "main");
    assert_int_equal(sqlite3_backup_step(copying, -1), SQLITE_DONE);
    sqlite3_backup_finish(copying);
    sqlite3_close(backup);
    sqlite3_close(db);
    write_file("swept.data.letter", "Dear Sir", 8);
    write_file("swept.data.empty0", "", 0);
    /* What the file of a recorder is before it is published. */
    recorder = create("other.data", false, &why);
    assert_non_null(recorder);
    char copy[96];
    snprintf(copy, sizeof copy, "cat /proc/%d/fd/%d >swept.data.aB3xYz", getpid(), recorder->file.file);
    assert_int_equal(system(copy), 0);
    recorder_close(recorder);
    struct stat status;
    assert_int_equal(stat("swept.data.aB3xYz", &status), 0);
    assert_true(status.st_size > 4096);
    /* That of a recorder that lives, and that of another user. */
    assert_int_equal(system("cp swept.data.aB3xYz swept.data.Living && cp swept.data.aB3xYz swept.data.Others"), 0);
    const int living = open("swept.data.Living", O_RDWR | O_CLOEXEC);
    assert_true(recording_vfs_lock_live(living));
    const bool has_others = chown("swept.data.Others", 65534, (gid_t)-1) == 0;

    recorder_close(begin("swept.data"));
    assert_int_equal(access("swept.data.aB3xYz", F_OK), -1);
    assert_int_equal(access("swept.data.Living", F_OK), 0);
    assert_int_equal(access("swept.data.Others", F_OK), has_others ? 0 : -1);
    close(living);
    assert_is_recording("swept.data.copied");
    assert_is_recording("swept.data.recovered-monday");
    assert_is_recording("swept.data.vacuum");
    assert_is_recording("swept.data.backup");
    assert_int_equal(access("swept.data.empty0", F_OK), 0);
    assert_holds("swept.data.letter", "Dear Sir");
    assert_int_equal(files_beside("other.data"), 0);
}

/* Half a transaction keeps its journal until it is undone, wherever its folder is moved. */
TEST(journal_is_undone_where_it_stands) {
    struct failure why = {0};
    assert_int_equal(mkdir("moved", 0700), 0);
    begin_old("moved/old.data");
    cut_transaction("moved/old.data");
    struct recorder *recorder = create("moved/old.data", false, &why);
    assert_non_null(recorder);
    assert_int_equal(rename("moved", "away"), 0);
    assert_int_equal(mkdir("moved", 0700), 0);
    assert_true(recorder_publish(recorder, &why));
    recorder_close(recorder);
    assert_int_equal(access("away/old.data-journal", F_OK), -1);
    struct recording *recording = open_good("away/old.data");
    assert_string_not_equal(recording_info(recording)->tool, "half");
    recording_close(recording);
    assert_int_equal(rmdir("moved"), 0); /* nothing was put there */
}

/* The longest name that has room for "-journal" has room for all that a recorder puts beside it. */
TEST(long_names_are_refused_at_once) {
    struct failure why = {0};
    char name[NAME_MAX + 1];
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX - strlen("-journal") + 1] = '\0';
    assert_null(create(name, false, &why));
    assert_non_null(strstr(why.message, "too long"));
    name[NAME_MAX - strlen("-journal")] = '\0';
    begin_old(name);
    cut_transaction(name);
    recorder_close(begin(name)); /* undoes it in a copy */
    assert_is_recording(name);
    assert_int_equal(unlink(name), 0);
}

/* ---- whose files ------------------------------------------------------------------------------------------------- */

enum { NOBODY = 65534 };

/* Perf's rule. */
TEST(strangers_recordings_take_force) {
    if (geteuid() != 0) {
        skip();
    }
    struct failure why = {0};
    unsetenv("SUDO_UID");
    recorder_close(begin("theirs.data"));
    assert_int_equal(chown("theirs.data", NOBODY, NOBODY), 0);
    assert_null(recording_open("theirs.data", &why));
    assert_non_null(strstr(why.message, "--force"));
    struct recording *recording = recording_open_with("theirs.data", RECORDING_FORCE, &why);
    assert_non_null(recording);
    assert_true(recording->held.is_copy);
    recording_close(recording);
    setenv("SUDO_UID", "65534", 1);
    recording = open_good("theirs.data");
    assert_true(recording->held.is_copy);
    recording_close(recording);
    unsetenv("SUDO_UID");
    assert_null(create("theirs.data", false, &why));
    assert_non_null(strstr(why.message, "another user"));
    recorder_close(create("theirs.data", true, &why));

    assert_int_equal(symlink("kept.data", "link.theirs"), 0);
    assert_int_equal(lchown("link.theirs", NOBODY, NOBODY), 0);
    assert_null(recording_open_with("link.theirs", RECORDING_FORCE, &why));
    assert_null(create("link.theirs", true, &why));
    assert_int_equal(access("kept.data", F_OK), 0);
    recorder_close(begin("own.data"));
    write_file("own.data-journal", "", 0);
    assert_int_equal(chown("own.data-journal", NOBODY, NOBODY), 0);
    assert_null(create("own.data", true, &why));
    assert_null(recording_open("own.data", &why));
    assert_null(strstr(why.message, "remove"));
    assert_null(recording_open_with("own.data", RECORDING_FORCE, &why)); /* not even with --force */
    assert_non_null(strstr(why.message, "own.data-journal: belongs to another user"));
    assert_int_equal(chown("own.data", NOBODY, NOBODY), 0);
    assert_int_equal(chown("own.data-journal", 0, 0), 0);
    assert_null(recording_open_with("own.data", RECORDING_FORCE, &why));
    assert_non_null(strstr(why.message, "own.data-journal: belongs to another user"));
}

static void assert_belongs_to(const char *path, uid_t user) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_uid, user);
}

/* Half a transaction of theirs is undone, and stays theirs; of others, nobody is to remove what would undo it. */
TEST(journals_of_the_sudo_user_are_undone) {
    if (geteuid() != 0) {
        skip();
    }
    struct failure why = {0};
    begin_old("sudo.data");
    cut_transaction("sudo.data");
    assert_int_equal(chown("sudo.data", NOBODY, NOBODY), 0);
    assert_int_equal(chown("sudo.data-journal", NOBODY, NOBODY), 0);
    unsetenv("SUDO_UID");
    assert_null(create("sudo.data", true, &why));
    assert_non_null(strstr(why.message, "sudo.data-journal"));
    assert_null(strstr(why.message, "remove"));
    setenv("SUDO_UID", "65534", 1);
    struct recorder *recorder = begin("sudo.data"); /* and no heap comes */
    assert_int_equal(access("sudo.data-journal", F_OK), -1);
    assert_belongs_to("sudo.data", NOBODY);
    assert_is_recording("sudo.data");
    commit_event(recorder);
    recorder_close(recorder);
    assert_belongs_to("sudo.data", 0);
    unsetenv("SUDO_UID");
}

static void assert_strangers(const char *path, const char *reason) {
    struct failure why = {0};
    assert_null(recording_open(path, &why));
    assert_non_null(strstr(why.message, reason));
    struct recording *recording = recording_open_with(path, RECORDING_FORCE, &why);
    assert_non_null(recording);
    assert_true(recording->held.is_copy);
    recording_close(recording);
}

static void assert_own(const char *path) {
    struct recording *recording = open_good(path);
    assert_false(recording->held.is_copy);
    recording_close(recording);
}

/* Whose it is says nothing of what is in it. */
TEST(recordings_that_others_may_write_to_take_force) {
    static const mode_t modes[] = {0666, 0620, 0602};
    recorder_close(begin("open.data"));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod("open.data", modes[i]), 0);
        assert_strangers("open.data", "others may write to it");
    }
    assert_int_equal(chmod("open.data", 0644), 0);
    assert_own("open.data");

    /* Its journal is what is in it, too. */
    struct failure why = {0};
    write_file("open.data-journal", "", 0);
    assert_own("open.data");
    assert_int_equal(chmod("open.data-journal", 0666), 0);
    assert_null(recording_open("open.data", &why));
    assert_non_null(strstr(why.message, "open.data-journal"));
    assert_null(strstr(why.message, "remove"));
    recording_close(recording_open_with("open.data", RECORDING_FORCE, &why));
    assert_null(create("open.data", true, &why));
    assert_non_null(strstr(why.message, "open.data-journal"));
}

TEST(hard_links_in_a_shared_folder_take_force) {
    recorder_close(begin("one.data"));
    assert_int_equal(mkdir("shared", 0700), 0);
    assert_int_equal(link("one.data", "shared/two.data"), 0);
    assert_own("shared/two.data");
    assert_int_equal(chmod("shared", 01777), 0);
    assert_own("one.data");
    assert_strangers("shared/two.data", "hard links");
    if (geteuid() == 0) {
        assert_int_equal(chmod("shared", 0700), 0);
        assert_int_equal(chown("shared", NOBODY, NOBODY), 0);
        assert_strangers("shared/two.data", "hard links");
    }
}

/* The stranger takes his name away once it is open: what is open has one name then. */
TEST(a_link_that_is_gone_is_a_strangers) {
    struct place place;
    assert_int_equal(mkdir("links", 01777), 0);
    assert_int_equal(chmod("links", 01777), 0);
    recorder_close(begin("mine.data"));
    assert_int_equal(link("mine.data", "links/name"), 0);
    assert_true(place_open(&place, "links/name"));
    const int file = place_open_file(&place, O_RDONLY, 0);
    assert_true(file >= 0);
    assert_int_equal(unlink("links/name"), 0);
    assert_true(place_is_strangers_link(&place, place.name, file));
    assert_int_equal(rename("mine.data", "links/name"), 0);
    assert_false(place_is_strangers_link(&place, place.name, file));
    recorder_close(begin("mine.data"));
    assert_int_equal(rename("mine.data", "links/name"), 0); /* a recorder has replaced it */
    assert_false(place_is_strangers_link(&place, place.name, file));
    assert_int_equal(link("links/name", "mine.data"), 0); /* and another file has its name: it is gone all the same */
    assert_false(place_is_strangers_link(&place, place.name, file));
    close(file);
    place_close(&place);
}

SUITE(enter_folder, leave_folder)
