/* What is worth allocating old: which classes and sites a profile's file names, that the runtime reads them as they
 * are, and that the file takes nothing's place that is of worth. */
#include "life_builder.h"
#include "util/replace.h"
#include "views/lifetimes/pretenure.h"
#include <eden/eden.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

/* A run of 1 GiB; 5% of it is long. */
static const uint64_t mib = 1 << 20, run = 1 << 30;

/* Half of its life in new space, as build_end has it: tenured at 256 MiB, alive long after. */
static void keep(struct life_site *site, uint64_t count) {
    build_end(site, (struct build_end){.flags = EDEN_LIFE_TENURED,
                                       .count = count,
                                       .bytes = 32,
                                       .ns = 900,
                                       .allocated = 512 * mib,
                                       .scavenges = 1});
}

static void drop(struct life_site *site, uint64_t count) {
    build_end(site, (struct build_end){.count = count, .bytes = 32, .ns = 10, .allocated = mib});
}

/* The file's text without comments, and how many the rest of it counts. */
static char *text_of(const struct life_heap *heaps, size_t count, struct life_pretenured *named) {
    struct life_model model = {.heaps = (struct life_heap *)(uintptr_t)heaps, .heap_count = count};
    struct failure why;
    char *text = NULL;
    size_t size = 0, to = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(life_pretenure(out, &model, &life_view_defaults, named, &why));
    fclose(out);
    assert_memory_equal(text, LIFE_PRETENURE_MARK, strlen(LIFE_PRETENURE_MARK));
    for (char *line = text, *end; *line != 0; line = end) {
        end = strchr(line, '\n') + 1;
        if (*line != '#') {
            memmove(text + to, line, (size_t)(end - line));
            to += (size_t)(end - line);
        }
    }
    text[to] = 0;
    return text;
}

static void assert_names(const struct life_heap *heaps, size_t count, const char *wanted) {
    struct life_pretenured named;
    char *text __attribute__((cleanup(free_at))) = text_of(heaps, count, &named);
    size_t lines = 0;
    for (const char *c = text; *c; c++) {
        lines += *c == '\n';
    }
    assert_string_equal(text, wanted);
    assert_int_equal(named.classes + named.sites, lines);
}

static struct life_evidence evidence_of(const struct life_site *site) {
    struct life_evidence evidence;
    life_evidence_gather(&evidence, site, (double)run, &life_view_defaults.rule);
    return evidence;
}

TEST(worth_is_certain_or_unknown) {
    for (uint64_t n = 1; n <= 20; n++) {
        struct life_site site __attribute__((cleanup(life_site_clear))) = {0};
        keep(&site, n);
        struct life_evidence evidence = evidence_of(&site);
        /* Wilson: n / (n + 1.96^2) > 3/4. */
        assert_int_equal(evidence.worth, n >= 12 ? LIFE_WORTH : LIFE_WORTH_UNKNOWN);
        assert_int_equal(evidence.promising, n < 12);
        assert_int_equal(evidence.samples, n);
        assert_true(evidence.tenured == 1 && evidence.alive == 1);
        assert_true(evidence.age == 256. * (double)mib && evidence.limit == 256. * (double)mib + 0.05 * (double)run);
    }
    for (uint64_t n = 1; n <= 20; n++) {
        struct life_site site __attribute__((cleanup(life_site_clear))) = {0};
        drop(&site, n);
        assert_int_equal(evidence_of(&site).worth, n >= 2 ? LIFE_NOT_WORTH : LIFE_WORTH_UNKNOWN);
        assert_false(evidence_of(&site).promising);
    }
    struct life_site nothing __attribute__((cleanup(life_site_clear))) = {0};
    assert_int_equal(evidence_of(&nothing).worth, LIFE_WORTH_UNKNOWN);
    assert_false(evidence_of(&nothing).promising);
}

static enum life_worth worth_of(struct build_end first, struct build_end second) {
    struct life_site site __attribute__((cleanup(life_site_clear))) = {0};
    build_end(&site, first);
    if (second.count) {
        build_end(&site, second);
    }
    return evidence_of(&site).worth;
}

TEST(each_condition_counts) {
    const struct build_end kept = {
        .flags = EDEN_LIFE_TENURED, .count = 800, .bytes = 32, .ns = 1, .allocated = 512 * mib, .scavenges = 1};
    struct build_end other = {.count = 200, .bytes = 32, .ns = 1, .allocated = mib};
    /* Four in five live on; three in four do, which may be chance; or as many objects, of fewer bytes. */
    assert_int_equal(worth_of(kept, other), LIFE_WORTH);
    other.count = 266;
    assert_int_equal(worth_of(kept, other), LIFE_WORTH_UNKNOWN);
    other.count = 400;
    assert_int_equal(worth_of(kept, other), LIFE_NOT_WORTH);
    other.bytes = 8;
    assert_int_equal(worth_of(kept, other), LIFE_WORTH);
    /* Alive and in new space at the end, their fate is not known; watched for a moment only, they say nothing. */
    other = (struct build_end){.outcome = LIFE_CENSORED, .count = 2000, .bytes = 32, .ns = 1, .allocated = mib};
    assert_int_equal(worth_of(kept, other), LIFE_WORTH);
    /* Tenured, but dead soon after: at 64 MiB, while long after is 32 + 51 MiB. */
    struct build_end soon = kept;
    soon.allocated = 64 * mib;
    assert_int_equal(worth_of(soon, (struct build_end){0}), LIFE_NOT_WORTH);
    /* Tenured, and alive when last seen, which was not long after. */
    soon.outcome = LIFE_CENSORED;
    assert_int_equal(worth_of(soon, (struct build_end){0}), LIFE_WORTH_UNKNOWN);
    soon.allocated = 512 * mib;
    assert_int_equal(worth_of(soon, (struct build_end){0}), LIFE_WORTH);
    /* Two in three die as it ends for nine of ten of the rest: one watched long says nothing of the others. */
    struct build_end watched = kept;
    watched.outcome = LIFE_CENSORED;
    watched.count = 3;
    soon.allocated = 64 * mib;
    assert_int_equal(worth_of(soon, watched), LIFE_WORTH_UNKNOWN);
    /* Long lives in new space: nothing is spared. */
    struct build_end young = kept;
    young.flags = 0;
    assert_int_equal(worth_of(young, (struct build_end){0}), LIFE_NOT_WORTH);
    /* Born old, nothing is known. */
    young.flags = EDEN_LIFE_BORN_OLD;
    assert_int_equal(worth_of(young, (struct build_end){0}), LIFE_WORTH_UNKNOWN);
}

TEST(names_cover_what_is_worth_it_only) {
    struct life_heap heap __attribute__((cleanup(build_clear))) = {0};
    build_run(&heap, 1000, run);
    /* All of it; with a site that says too little to stand in the way. */
    keep(build_site(&heap, 3, 3, "Record", "Record"), 100);
    keep(build_site(&heap, 4, 3, "reader", "Record"), 90);
    drop(build_site(&heap, 5, 3, "rare", "Record"), 1);
    /* A class that one site makes garbage of, though nine in ten live on. */
    keep(build_site(&heap, 6, 6, "Text", "Text"), 50);
    keep(build_site(&heap, 7, 6, "cell", "Text"), 1000);
    drop(build_site(&heap, 8, 6, "scratch", "Text"), 100);
    /* A site where two classes are made; one is garbage. */
    keep(build_site(&heap, 9, 9, "Row", "Row"), 2);
    keep(build_site(&heap, 10, 9, "mixed", "Row"), 1000);
    drop(build_site(&heap, 11, 12, "mixed", "Parser"), 30);
    drop(build_site(&heap, 12, 12, "Parser", "Parser"), 30);
    /* A class with few samples, and one without a name. */
    keep(build_site(&heap, 13, 13, "Seldom", "Seldom"), 5);
    keep(build_site(&heap, 14, 14, "", ""), 500);
    assert_names(&heap, 1, "class Row\nsite cell\nclass Record\n");
    struct life_pretenured named;
    free(text_of(&heap, 1, &named));
    assert_int_equal(named.classes, 2);
    assert_int_equal(named.sites, 1);
    assert_int_equal(named.promising, 1);
}

TEST(heaps_are_added_up) {
    struct life_heap heaps[2] = {{.begun = false}, {.begun = false}};
    build_run(&heaps[0], 1000, run);
    build_run(&heaps[1], 1000, run / 1024);
    keep(build_site(&heaps[0], 3, 3, "Both", "Both"), 6);
    keep(build_site(&heaps[1], 8, 8, "Both", "Both"), 6);
    keep(build_site(&heaps[0], 4, 4, "Torn", "Torn"), 1000);
    drop(build_site(&heaps[1], 3, 3, "Torn", "Torn"), 10);
    assert_names(heaps, 1, "class Torn\n");
    assert_names(heaps, 2, "class Both\n");
    assert_names(heaps, 0, "");
    build_clear(&heaps[0]);
    build_clear(&heaps[1]);
}

static int enter_folder(void **state) {
    char *folder = strdup("/tmp/eden-life-pretenure-XXXXXX");
    *state = folder;
    return folder && mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state) {
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    int status = chdir("/") == 0 ? system(command) : -1;
    free(*state);
    return status;
}

/* Names of any bytes, through the file, into a heap. */
TEST_WITH(the_runtime_reads_what_is_written, enter_folder, leave_folder) {
    static const char cut[] = "a name of 63 bytes may have been cut, so it is not for the file";
    static const char *const names[] = {" two  spaces ",    "# no comment",
                                        "class Site",       "new\nline\r\n",
                                        "back\\slash\\n\\", "\xc3\xa9\xff\x1b\xc2\x9b\xe2\x80\xae",
                                        "site Array%s",     cut};
    enum { NAMES = sizeof names / sizeof names[0] };
    assert_int_equal(strlen(cut), 63);
    struct life_heap heap
        __attribute__((cleanup(build_clear))) = {.name = "a\nclass Injected\n", .command = "b\nclass Injected\n"};
    build_run(&heap, 1000, run);
    for (uint32_t i = 0; i < NAMES; i++) {
        keep(build_site(&heap, 3 + i, 3 + i, names[i], names[i]), 100);
    }
    keep(build_site(&heap, 100, 99, "only\na site", "Mixed"), 100);
    drop(build_site(&heap, 99, 99, "Mixed", "Mixed"), 100);
    struct life_model model = {.heaps = &heap, .heap_count = 1};
    struct life_pretenured named;
    struct replacement file;
    struct failure why;
    assert_true(replace_begin(&file, "--pretenure", "names.txt", LIFE_PRETENURE_MARK, REPLACE_OURS, &why));
    assert_true(life_pretenure(file.out, &model, &life_view_defaults, &named, &why));
    assert_true(replace_finish(&file, &why));
    assert_int_equal(named.classes, NAMES - 1);
    assert_int_equal(named.sites, 1);

    eden_error error = {EDEN_OK, ""};
    eden_options options = {.parameters = "pretenure=names.txt"};
    eden_heap *made = eden_heap_create(&options, &error);
    if (!made) {
        fail_msg("%s", error.message);
    }
    eden_mutator *mutator = eden_mutator_attach(made, &error);
    eden_class mixed = eden_class_define(made, &(eden_class_definition){"Mixed", EDEN_FORMAT_FIXED, 2}, &error);
    assert_true(eden_is_young(mutator, eden_new(mutator, mixed)));
    assert_false(eden_is_young(mutator, eden_new(mutator, eden_site_define(made, mixed, "only\na site", &error))));
    eden_class injected = eden_class_define(made, &(eden_class_definition){"Injected", EDEN_FORMAT_FIXED, 2}, &error);
    assert_true(eden_is_young(mutator, eden_new(mutator, injected)));
    for (int i = 0; i < NAMES; i++) {
        eden_class of = eden_class_define(made, &(eden_class_definition){names[i], EDEN_FORMAT_FIXED, 2}, &error);
        assert_int_equal(eden_is_young(mutator, eden_new(mutator, of)), names[i] == cut);
    }
    eden_heap_destroy(made);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_text(const char *path, const char *wanted) {
    char text[200] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, wanted);
}

static bool replace(const char *path, const char *text, bool force, struct failure *why) {
    struct replacement file;
    if (!replace_begin(&file, "--pretenure", path, "# ours\n", force ? REPLACE_FORCED : REPLACE_OURS, why)) {
        assert_null(file.out);
        return false;
    }
    fputs(text, file.out);
    return replace_finish(&file, why);
}

static void assert_refused(const char *path, bool force, const char *says) {
    struct failure why;
    assert_false(replace(path, "# ours\nnew\n", force, &why));
    assert_int_equal(why.status, 1);
    if (!strstr(why.message, says)) {
        fail_msg("'%s' does not say '%s'", why.message, says);
    }
}

static void assert_no_temporary(void) { assert_int_equal(system("! ls | grep -E '[.].{6}$'"), 0); }

TEST_WITH(nothing_of_worth_is_replaced, enter_folder, leave_folder) {
    struct failure why;
    struct stat status;
    umask(027);
    assert_true(replace("new", "# ours\nfirst\n", false, &why));
    assert_text("new", "# ours\nfirst\n");
    assert_int_equal(stat("new", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    /* One of ours keeps its rights; a link stays one. */
    assert_int_equal(chmod("new", 0604), 0);
    assert_int_equal(symlink("new", "link"), 0);
    assert_true(replace("link", "# ours\nsecond\n", false, &why));
    assert_text("new", "# ours\nsecond\n");
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat("new", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0604);
    write_text("empty", "");
    assert_true(replace("empty", "# ours\n", REPLACE_OURS, &why));

    write_text("letter", "# our\n");
    assert_refused("letter", false, "--force");
    assert_text("letter", "# our\n");
    assert_true(replace("letter", "# ours\n", true, &why));
    assert_text("letter", "# ours\n");
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_refused("folder", true, "not a regular file");
    assert_refused("/dev/null", true, "not a regular file");
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_refused("dangling", true, "dangling");
    assert_refused("no/such", true, "No such file");
    assert_refused("new/such", true, "Not a directory");
    assert_no_temporary();

    /* Left in the middle. */
    struct replacement file;
    assert_true(replace_begin(&file, "--pretenure", "new", "# ours\n", REPLACE_OURS, &why));
    fputs("# ours\nhalf", file.out);
    replace_abandon(&file);
    replace_abandon(&file);
    assert_text("new", "# ours\nsecond\n");
    assert_no_temporary();
}

/* What came to the path, or was changed there, since it was looked at. */
static void assert_stays(const char *path, enum replace_how how, const char *before, const char *change) {
    struct replacement file;
    struct failure why;
    if (before) {
        write_text(path, before);
    }
    assert_true(replace_begin(&file, "--pretenure", path, "# ours\n", how, &why));
    fputs("# ours\nnew\n", file.out);
    assert_int_equal(system(change), 0);
    assert_false(replace_finish(&file, &why));
    assert_int_equal(why.status, 1);
    assert_non_null(strstr(why.message, "another program has put a file there, or changed it, meanwhile"));
    assert_no_temporary();
}

TEST_WITH(what_comes_meanwhile_stays, enter_folder, leave_folder) {
    static const enum replace_how ways[] = {REPLACE_OURS, REPLACE_FORCED, REPLACE_PRIVATE};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_stays("late", ways[i], NULL, "printf letter >late");
        assert_text("late", "letter");
        assert_stays("late", ways[i], "", "printf letter >late");
        assert_text("late", "letter");
        assert_stays("late", ways[i], "# ours\n", "printf letter >new && mv new late");
        assert_text("late", "letter");
        assert_stays("late", ways[i], "# ours\n", "printf '# mine!' >late && touch -d @1 late");
        assert_text("late", "# mine!");
        /* Nobody can put the time of the last change back; it may have a granularity of some ms. */
        assert_stays("late", ways[i], "# ours\n",
                     "cp -p late old && sleep 0.02 && printf '# mine\n' >late && touch -r old late");
        assert_text("late", "# mine\n");
        assert_stays("late", ways[i], "# ours\n", "sleep 0.02 && chmod 640 late");
        assert_text("late", "# ours\n");
        assert_stays("late", ways[i], "# ours\n", "rm late && ln -s letter late");
        assert_int_equal(unlink("late"), 0);
    }
    if (geteuid() == 0) {
        struct stat status;
        assert_int_equal(mkdir("shared", 0700), 0);
        assert_int_equal(chmod("shared", 01777), 0);
        assert_stays("shared/late", REPLACE_FORCED, NULL, "printf letter >shared/late && chown 65534 shared/late");
        assert_text("shared/late", "letter");
        assert_int_equal(stat("shared/late", &status), 0);
        assert_int_equal(status.st_uid, 65534);
    }

    /* With what is gone, nothing is lost. */
    struct replacement file;
    struct failure why;
    write_text("gone", "# ours\nold\n");
    assert_true(replace_begin(&file, "--pretenure", "gone", "# ours\n", REPLACE_OURS, &why));
    fputs("# ours\nnew\n", file.out);
    assert_int_equal(unlink("gone"), 0);
    assert_true(replace_finish(&file, &why));
    assert_text("gone", "# ours\nnew\n");
}

/* Replaces a file that was so prepared, and compares owner, group and rights. False: preparing it failed. */
static bool keeps_rights(const char *path, const char *prepare) {
    static const char rights[] = "stat -c '%%u:%%g %%a' %s >%s && { getfacl -cn %s || echo none; } >>%s 2>&1";
    char command[400];
    struct failure why;
    write_text(path, "# ours\n");
    if (system(prepare) != 0) {
        return false;
    }
    snprintf(command, sizeof command, rights, path, "before", path, "before");
    assert_int_equal(system(command), 0);
    assert_true(replace(path, "# ours\nnew\n", false, &why));
    assert_text(path, "# ours\nnew\n");
    snprintf(command, sizeof command, rights, path, "after", path, "after");
    assert_int_equal(system(command), 0);
    assert_int_equal(system("diff before after >&2"), 0);
    assert_int_equal(unlink(path), 0);
    assert_no_temporary();
    return true;
}

TEST_WITH(rights_stay_those_of_the_old_file, enter_folder, leave_folder) {
    struct failure why;
    struct stat status;
    assert_true(keeps_rights("list", "chmod 751 list"));
    if (geteuid() != 0) {
        return;
    }
    keeps_rights("list", "chmod 600 list && setfacl -m u:65534:rw list 2>/dev/null");
    assert_true(keeps_rights("list", "chown :1 list && chmod 640 list"));
    /* The user who ran sudo keeps what is his; another one's is replaced only if forced, by a file of the caller's. */
    assert_int_equal(setenv("SUDO_UID", "65534", 1), 0);
    assert_true(keeps_rights("list", "chown 65534:65534 list && chmod 600 list"));
    assert_int_equal(unsetenv("SUDO_UID"), 0);
    write_text("list", "# ours\n");
    assert_int_equal(chown("list", 65534, 65534), 0);
    assert_true(replace("list", "# ours\n", true, &why));
    assert_int_equal(stat("list", &status), 0);
    assert_int_equal(status.st_uid, 0);
    assert_int_equal(status.st_gid, 0);
}

TEST_WITH(what_can_not_be_put_in_place_is_refused_at_the_start, enter_folder, leave_folder) {
    struct replacement file;
    struct failure why;
    char name[NAME_MAX + 1] = "";
    memset(name, 'n', NAME_MAX - strlen(".XXXXXX"));
    assert_true(replace(name, "# ours\n", false, &why)); /* the longest that is followed by .XXXXXX */
    strcat(name, "n");
    assert_false(replace_begin(&file, "--pretenure", name, "# ours\n", REPLACE_OURS, &why));
    assert_non_null(strstr(why.message, "the name is too long"));

    assert_int_equal(mkdir("adds", 0700), 0);
    if (system("chattr +a adds 2>/dev/null") == 0) {
        bool began = replace_begin(&file, "--pretenure", "adds/new", "# ours\n", REPLACE_OURS, &why);
        assert_int_equal(system("chattr -a adds"), 0);
        assert_false(began);
        assert_non_null(strstr(why.message, "lets files be added only"));
    }
    assert_true(replace("kept", "# ours\n", false, &why));
    if (system("chattr +i kept 2>/dev/null") == 0) {
        bool began = replace_begin(&file, "--pretenure", "kept", "# ours\n", REPLACE_OURS, &why);
        assert_int_equal(system("chattr -i kept"), 0);
        assert_false(began);
        assert_non_null(strstr(why.message, "protected from being replaced"));
    }
    assert_no_temporary();
}

TEST_WITH(a_folder_that_was_moved_is_named, enter_folder, leave_folder) {
    struct replacement file;
    struct failure why;
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_true(replace_begin(&file, "--pretenure", "folder/new", "# ours\n", REPLACE_OURS, &why));
    fputs("# ours\n", file.out);
    assert_int_equal(rename("folder", "moved"), 0);
    assert_false(replace_finish(&file, &why));
    assert_non_null(strstr(why.message, "folder/new: its folder was moved meanwhile"));
    assert_text("moved/new", "# ours\n");
}

TEST_WITH(a_full_disk_leaves_the_old_file, enter_folder, leave_folder) {
    struct rlimit limit, small;
    struct failure why;
    static char text[20000];
    memset(text, '#', sizeof text - 1);
    write_text("old", "# ours\nold\n");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool replaced = replace("old", text, false, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_false(replaced);
    assert_non_null(strstr(why.message, "is unchanged"));
    assert_text("old", "# ours\nold\n");
    assert_no_temporary();
}
