/* What SQLite does within a step of its machine.
 *
 * 1. Purpose
 *
 * The steps of SQLite's machine do not show how much it does. Within one it copies a payload of up to 2 GB to compare a
 * key, follows a chain of overflow pages to a column behind them, or counts the rows of a tree. None of that takes much
 * of a file: a page of a chain may lead to itself, pages of a tree may stand in it more than once, and a size beyond
 * the data may be a hole. A progress handler is not called meanwhile, and limits of SQLite hold for values alone.
 *
 * 2. Terms
 *
 * Work: steps of SQLite's machine, and for each page what it takes to find and copy it.
 *
 * 3. Algorithm
 *
 * Whatever SQLite looks at, it gets as a page from its page cache, or reads it from the file past the cache. So both
 * count: a page cache around SQLite's own counts what is fetched, and recording_vfs.c what is read.
 *
 * 4. Invariants
 *
 * I1. When the work exceeds its most, no page is fetched nor read, so what SQLite does is over after one page.
 * I2. The work of a page is bounded: 64 KiB is the largest of SQLite.
 *
 * 5. Failure
 *
 * A page that is not fetched is SQLITE_NOMEM for SQLite, one that is not read SQLITE_IOERR. recording_read.c compares
 * done and most to say why.
 *
 * 6. Cost
 *
 * A call and an addition for each page.
 *
 * 7. References
 *
 * https://www.sqlite.org/c3ref/pcache_methods2.html, https://www.sqlite.org/fileformat2.html */
#include "recording/recording_work.h"
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>

enum {
    STEPS_PIECE = 8,       /* to find it */
    BYTES_COPIED_STEP = 64 /* in the time of a step */
};

bool recording_work_add(struct recording_work *work, uint64_t bytes) {
    if (work) {
        work->done += STEPS_PIECE + bytes / BYTES_COPIED_STEP;
    }
    return !work || work->done <= work->most;
}

/* ---- the page cache ---------------------------------------------------------------------------------------------- */

/* A sqlite3_pcache: SQLite's own, and whose work its pages are. */
struct counted {
    sqlite3_pcache *cache; /* owned */
    struct recording_work *work;
    uint64_t page_bytes;
};

static sqlite3_pcache_methods2 own; /* SQLite's */
static _Thread_local struct recording_work *counting;

static struct counted *counted(sqlite3_pcache *cache) { return (struct counted *)cache; }

static sqlite3_pcache *cache_create(int page_bytes, int extra_bytes, int is_purgeable) {
    struct counted *made = malloc(sizeof *made);
    sqlite3_pcache *cache = made ? own.xCreate(page_bytes, extra_bytes, is_purgeable) : NULL;
    if (!cache) {
        free(made);
        return NULL;
    }
    *made = (struct counted){.cache = cache, .work = counting, .page_bytes = (uint64_t)page_bytes};
    return (sqlite3_pcache *)made;
}

static void cache_destroy(sqlite3_pcache *cache) {
    own.xDestroy(counted(cache)->cache);
    free(counted(cache));
}

/* create 0: SQLite only looks whether it has the page, to change it too. */
static sqlite3_pcache_page *cache_fetch(sqlite3_pcache *cache, unsigned page, int create) {
    const struct counted *from = counted(cache);
    return create == 0 || recording_work_add(from->work, from->page_bytes) ? own.xFetch(from->cache, page, create)
                                                                           : NULL;
}

static void cache_size(sqlite3_pcache *cache, int pages) { own.xCachesize(counted(cache)->cache, pages); }

static int cache_count(sqlite3_pcache *cache) { return own.xPagecount(counted(cache)->cache); }

static void cache_unpin(sqlite3_pcache *cache, sqlite3_pcache_page *page, int discard) {
    own.xUnpin(counted(cache)->cache, page, discard);
}

static void cache_rekey(sqlite3_pcache *cache, sqlite3_pcache_page *page, unsigned from, unsigned to) {
    own.xRekey(counted(cache)->cache, page, from, to);
}

static void cache_truncate(sqlite3_pcache *cache, unsigned limit) { own.xTruncate(counted(cache)->cache, limit); }

static void cache_shrink(sqlite3_pcache *cache) { own.xShrink(counted(cache)->cache); }

static int prepare_status = SQLITE_MISUSE;

static void prepare(void) {
    prepare_status = sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &own);
    if (prepare_status == SQLITE_OK) {
        sqlite3_pcache_methods2 methods = own; /* with its beginning and end */
        methods.xCreate = cache_create;
        methods.xCachesize = cache_size;
        methods.xPagecount = cache_count;
        methods.xFetch = cache_fetch;
        methods.xUnpin = cache_unpin;
        methods.xRekey = cache_rekey;
        methods.xTruncate = cache_truncate;
        methods.xDestroy = cache_destroy;
        methods.xShrink = cache_shrink;
        prepare_status = sqlite3_config(SQLITE_CONFIG_PCACHE2, &methods);
    }
}

int recording_work_prepare(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    return prepare_status;
}

void recording_work_count(struct recording_work *work) { counting = work; }
