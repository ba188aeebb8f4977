/* The tables and views of a recording, generated from the lists of probes/.
 *
 * Columns are named as figures and probe arguments are named everywhere else; a figure or argument that is added there
 * appears here by itself, and readers ask for columns by name, so files made before and after read alike. Tables hold
 * what was recorded; views are for people with an SQL shell, and the tool reads none of them (a file from elsewhere may
 * hold any view). docs/recording.md describes all of it for those people. */
#include "recording/recording_sql.h"
#include "eden_values.h"
#include "model/probe_table.h"
#include "util/format.h"
#include "util/mark.h"
#include <stdio.h>
#include <string.h>

static const char fixed_tables[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE process(process INTEGER PRIMARY KEY, pid INTEGER, start_ns INTEGER, command TEXT, runtime TEXT,"
    "  late INTEGER, ended INTEGER);"
    "CREATE TABLE phase(heap INTEGER, phase TEXT, calls INTEGER, total_ns INTEGER, max_ns INTEGER, objects INTEGER,"
    "  bytes INTEGER, outside_ns INTEGER"
#define PAUSE_CAUSE(name, heading, meaning) ", " #name "_ns INTEGER, longest_" #name "_ns INTEGER"
#include "kernel/pause_causes.def"
    ", faults INTEGER, longest_faults INTEGER, disk_faults INTEGER, longest_disk_faults INTEGER,"
    "  PRIMARY KEY(heap, phase)) WITHOUT ROWID;"
    "CREATE TABLE phase_histogram(heap INTEGER, phase TEXT, bucket INTEGER, low_ns INTEGER, high_ns INTEGER,"
    "  count INTEGER, PRIMARY KEY(heap, phase, bucket)) WITHOUT ROWID;"
    "CREATE TABLE probe(probe INTEGER PRIMARY KEY, name TEXT, meaning TEXT);"
    "CREATE TABLE probe_argument(probe INTEGER, position INTEGER, name TEXT, kind TEXT, meaning TEXT,"
    "  PRIMARY KEY(probe, position)) WITHOUT ROWID;"
    "CREATE TABLE class(process INTEGER, address INTEGER, heap_id INTEGER, class_id INTEGER, name TEXT,"
    "  of_class INTEGER, serial INTEGER,"
    "  PRIMARY KEY(process, address, heap_id, class_id, serial)) WITHOUT ROWID;"
    "CREATE TABLE parameter(process INTEGER, address INTEGER, heap_id INTEGER, name TEXT, value TEXT, serial INTEGER,"
    "  PRIMARY KEY(process, address, heap_id, name, serial)) WITHOUT ROWID;"
    "CREATE TABLE event(event INTEGER PRIMARY KEY, time_ns INTEGER, process INTEGER, tid INTEGER, probe INTEGER,"
    "  heap_id INTEGER, args INTEGER, heap INTEGER, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11,"
    "  text0 TEXT, text1 TEXT, serial INTEGER);"
    "CREATE TABLE pause(event INTEGER PRIMARY KEY"
#define PAUSE_CAUSE(name, heading, meaning) ", " #name "_ns INTEGER"
#include "kernel/pause_causes.def"
    ", faults INTEGER, disk_faults INTEGER);"
    "CREATE TABLE life_batch(batch INTEGER PRIMARY KEY, time_ns INTEGER, process INTEGER, heap INTEGER, heap_id "
    "INTEGER,"
    "  kind INTEGER, count INTEGER, record_bytes INTEGER, data BLOB, serial INTEGER);";
_Static_assert(EDEN_PROBE_MAX_ARGS == 12, "table event has columns heap, a1 .. a11");
_Static_assert(EVENT_TEXTS == 2, "table event has columns text0, text1");

static const char phases_view[] =
    "CREATE VIEW phases AS SELECT process.pid, process.command, heap.heap_id, heap.name AS heap_name, phase.phase,"
    "  phase.calls, phase.total_ns / 1e6 AS total_ms, phase.total_ns / 1e3 / nullif(phase.calls, 0) AS average_us,"
    "  phase.max_ns / 1e3 AS max_us, phase.objects, phase.bytes,"
    "  100.0 * (phase.total_ns - phase.outside_ns) / nullif((SELECT value FROM meta WHERE key = 'wall_ns'), 0) AS "
    "percent_of_wall, heap.serial"
    "  FROM phase JOIN heap USING (heap) JOIN process USING (process)";

/* ---- heap ------------------------------------------------------------------------------------------------------- */

static char *create_heap(sqlite3 *db) {
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendall(sql, "CREATE TABLE heap(heap INTEGER PRIMARY KEY, process INTEGER, address INTEGER,"
                               " heap_id INTEGER, name TEXT, late INTEGER, complete INTEGER");
    for (int before = 0; before <= 1; before++) {
        const char *prefix = before ? "before_" : "";
        for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
            sqlite3_str_appendf(sql, ", %s%s INTEGER", prefix, figure_descriptions[i].name);
        }
        for (unsigned i = 0; i < EDEN_FULL_CAUSES; i++) {
            sqlite3_str_appendf(sql, ", %sfull_by_cause_%s INTEGER", prefix, eden_full_cause_name(i));
        }
    }
    sqlite3_str_appendall(sql, ", stopped_ns INTEGER, collection_phase TEXT, collection_since_ns INTEGER,"
                               " collection_phase_since_ns INTEGER, collection_until_ns INTEGER,"
                               " collection_observed_ns INTEGER, ended_by_exec INTEGER, former_command TEXT,"
                               " earlier TEXT, serial INTEGER)");
    return sqlite3_str_finish(sql);
}

char *schema_insert_heap(void) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "INSERT OR REPLACE INTO heap VALUES(?");
    for (int i = 1; i < 7 + 2 * (EDEN_FIGURE_COUNT + EDEN_FULL_CAUSES) + 10; i++) {
        sqlite3_str_appendall(sql, ", ?");
    }
    sqlite3_str_appendall(sql, ")");
    return sqlite3_str_finish(sql);
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

/* The column of table event that holds an argument: texts are kept, not the addresses they stood at. */
static void argument_column(sqlite3_str *sql, enum eden_probe_id id, int argument) {
    int text = probe_text(id, argument);
    if (text >= 0) {
        sqlite3_str_appendf(sql, "text%d", text);
    } else if (argument == 0) {
        sqlite3_str_appendall(sql, "heap");
    } else {
        sqlite3_str_appendf(sql, "a%d", argument);
    }
}

/* The same, with the words of an enumeration in place of its numbers. */
static void argument_expression(sqlite3_str *sql, enum eden_probe_id id, int argument) {
    if (!probe_value_name(id, argument, 0)) {
        argument_column(sql, id, argument);
        return;
    }
    sqlite3_str_appendall(sql, "CASE ");
    argument_column(sql, id, argument);
    const char *word;
    for (unsigned value = 0; (word = probe_value_name(id, argument, value)) != NULL; value++) {
        sqlite3_str_appendf(sql, " WHEN %u THEN %Q", value, word);
    }
    sqlite3_str_appendall(sql, " ELSE ");
    argument_column(sql, id, argument);
    sqlite3_str_appendall(sql, " END");
}

/* A view named as the probe, its columns as the arguments. */
static char *create_probe_view(sqlite3 *db, enum eden_probe_id id) {
    const struct probe_description *probe = &probe_table[id];
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "CREATE VIEW \"%w\" AS SELECT event.time_ns, process.pid, event.tid", probe->name);
    if (probe_argument(id, "heap_id") < 0) {
        sqlite3_str_appendall(sql, ", event.heap_id");
    }
    for (int i = 0; i < probe->args; i++) {
        sqlite3_str_appendall(sql, ", ");
        argument_expression(sql, id, i);
        sqlite3_str_appendf(sql, " AS \"%w\"", probe->arg[i].name);
    }
    sqlite3_str_appendf(sql, ", event.serial FROM event JOIN process USING (process) WHERE probe = %d", (int)id);
    return sqlite3_str_finish(sql);
}

/* The probes that make up a row of view collection. */
static const struct {
    enum eden_probe_id start, done;
} collections[] = {
    {EDEN_PROBE_scavenge__start, EDEN_PROBE_scavenge__done},
    {EDEN_PROBE_full__start, EDEN_PROBE_full__done},
};
enum { COLLECTIONS = sizeof collections / sizeof collections[0] };

static enum eden_probe_id edge(int collection, bool done) {
    return done ? collections[collection].done : collections[collection].start;
}

/* One column: whichever of the start (or done) probes has an argument of this name gives its value. */
static void collection_column(sqlite3_str *sql, bool done, const char *name, const char *column) {
    sqlite3_str_appendall(sql, ", max(CASE probe");
    for (int i = 0; i < COLLECTIONS; i++) {
        int argument = probe_argument(edge(i, done), name);
        if (argument >= 0) {
            sqlite3_str_appendf(sql, " WHEN %d THEN ", (int)edge(i, done));
            argument_expression(sql, edge(i, done), argument);
        }
    }
    sqlite3_str_appendf(sql, " END) AS \"%w\"", column);
}

/* The columns of all start (or done) probes, each name once. */
static void collection_columns(sqlite3_str *sql, bool done) {
    for (int i = 0; i < COLLECTIONS; i++) {
        const struct probe_description *probe = &probe_table[edge(i, done)];
        for (int argument = 0; argument < probe->args; argument++) {
            const char *name = probe->arg[argument].name;
            bool taken = strcmp(name, "heap") == 0 || strcmp(name, "seq") == 0 || strcmp(name, "cause") == 0 ||
                         strcmp(name, "duration") == 0;
            for (int j = 0; j < i; j++) {
                taken = taken || probe_argument(edge(j, done), name) >= 0;
            }
            if (!taken) {
                char column[64];
                sqlite3_snprintf(sizeof column, column, "%s_%s", done ? "done" : "start", name);
                collection_column(sql, done, name, column);
            }
        }
    }
}

/* One row a collection, also where only its start or only its end was recorded. It groups rather than joins: `seq`
 * numbers both kinds of collections of a heap, and one pass over the events does. */
static char *create_collection_view(sqlite3 *db) {
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql,
                        "CREATE VIEW collection AS SELECT process.pid, event.heap_id, event.heap, event.a1 AS seq,"
                        " CASE WHEN max(probe IN (%d, %d)) THEN 'full' ELSE 'scavenge' END AS kind",
                        EDEN_PROBE_full__start, EDEN_PROBE_full__done);
    collection_column(sql, false, "cause", "cause");
    sqlite3_str_appendf(sql,
                        ", max(CASE WHEN probe IN (%d, %d) THEN time_ns END) AS start_ns"
                        ", max(CASE WHEN probe IN (%d, %d) THEN time_ns END) AS done_ns",
                        EDEN_PROBE_scavenge__start, EDEN_PROBE_full__start, EDEN_PROBE_scavenge__done,
                        EDEN_PROBE_full__done);
    collection_column(sql, true, "duration", "duration_ns");
    collection_columns(sql, false);
    collection_columns(sql, true);
    sqlite3_str_appendf(sql,
#define PAUSE_CAUSE(name, heading, meaning) ", max(pause." #name "_ns) AS " #name "_ns"
#include "kernel/pause_causes.def"
                        ", max(pause.faults) AS faults, max(pause.disk_faults) AS disk_faults"
                        ", event.serial FROM event JOIN process USING (process) LEFT JOIN pause USING (event)"
                        " WHERE probe IN (%d, %d, %d, %d)"
                        " GROUP BY event.process, event.heap, event.heap_id, event.serial, event.a1"
                        " ORDER BY min(event.event)",
                        EDEN_PROBE_scavenge__start, EDEN_PROBE_full__start, EDEN_PROBE_scavenge__done,
                        EDEN_PROBE_full__done);
    return sqlite3_str_finish(sql);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static int run_and_free(sqlite3 *db, char *sql) {
    int code = sql ? sql_run(db, sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

static int fill_probes(sqlite3 *db) {
    sqlite3_stmt *probe = NULL, *argument = NULL;
    int code = sqlite3_prepare_v2(db, "INSERT INTO probe VALUES(?, ?, ?)", -1, &probe, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v2(db, "INSERT INTO probe_argument VALUES(?, ?, ?, ?, ?)", -1, &argument, NULL);
    }
    for (int i = 0; i < EDEN_PROBE_COUNT && code == SQLITE_OK; i++) {
        sqlite3_bind_int(probe, 1, i);
        sqlite3_bind_text(probe, 2, probe_table[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_text(probe, 3, probe_table[i].meaning, -1, SQLITE_STATIC);
        code = sql_step(probe);
        for (int j = 0; j < probe_table[i].args && code == SQLITE_OK; j++) {
            sqlite3_bind_int(argument, 1, i);
            sqlite3_bind_int(argument, 2, j);
            sqlite3_bind_text(argument, 3, probe_table[i].arg[j].name, -1, SQLITE_STATIC);
            sqlite3_bind_text(argument, 4, probe_kind_names[probe_table[i].arg[j].kind], -1, SQLITE_STATIC);
            sqlite3_bind_text(argument, 5, probe_table[i].arg[j].meaning, -1, SQLITE_STATIC);
            code = sql_step(argument);
        }
    }
    sqlite3_finalize(probe);
    sqlite3_finalize(argument);
    return code;
}

int schema_create(sqlite3 *db) {
    char *numbers = sqlite3_mprintf("PRAGMA application_id = %d", RECORDING_APPLICATION_ID);
    int code = run_and_free(db, numbers);
    code = code == SQLITE_OK ? sql_run(db, fixed_tables) : code;
    code = code == SQLITE_OK ? run_and_free(db, create_heap(db)) : code;
    code = code == SQLITE_OK ? sql_run(db, phases_view) : code;
    code = code == SQLITE_OK ? run_and_free(db, create_collection_view(db)) : code;
    for (int i = 0; i < EDEN_PROBE_COUNT && code == SQLITE_OK; i++) {
        code = run_and_free(db, create_probe_view(db, (enum eden_probe_id)i));
    }
    return code == SQLITE_OK ? fill_probes(db) : code;
}

/* What writing and reading a recording share: failures in words, and running SQL. */

const char *const recording_cut_names[CUTS] = {"", "max-size", "no-room", "file-limit", "locked", "failed"};

const char *recording_partial(const struct recording_info *info) {
    static const char *const meanings[CUTS] = {
        [CUT_UNKNOWN] = "cut short: the recorder was killed, or could not write the reason",
        [CUT_MAX_SIZE] = "cut short: it reached the size limit set by --max-size",
        [CUT_NO_ROOM] = "cut short: the file system was almost full",
        [CUT_FILE_LIMIT] = "cut short: it reached the file size limit (`ulimit -f`)",
        [CUT_LOCKED] = "cut short: another program held a lock on it",
        [CUT_FAILED] = "cut short: the recorder failed, and reported the reason when it ended",
    };
    return info->finished ? NULL : info->live ? "still being recorded" : meanings[info->cut];
}

static const char *advice(int code) {
    switch (code & 0xff) {
    case SQLITE_FULL:
        return "free some disk space, or name another file with -o";
    case SQLITE_IOERR:
        return "the disk may be full or failing, or a file size limit reached";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return "the file is damaged; record again";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another program holds a lock on it; try again when it has finished";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return "check the permissions of the file and its folder";
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
        return "its tables differ from those in docs/recording.md";
    case SQLITE_NOMEM:
        return "out of memory";
    default:
        return "docs/recording.md describes the format";
    }
}

void recording_fail_sql(struct failure *why, const char *path, const char *doing, sqlite3 *db) {
    int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    failure_set(why, 1, "%.200s: %s: %.160s; %s", path, doing, db ? sqlite3_errmsg(db) : sqlite3_errstr(code),
                advice(code));
}

int sql_step(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
}

int sql_run(sqlite3 *db, const char *sql) {
    while (*sql) {
        sqlite3_stmt *statement = NULL;
        int code = sqlite3_prepare_v2(db, sql, -1, &statement, &sql);
        if (code == SQLITE_OK && statement) {
            code = sql_step(statement);
        }
        sqlite3_finalize(statement);
        if (code != SQLITE_OK) {
            return code;
        }
    }
    return SQLITE_OK;
}
