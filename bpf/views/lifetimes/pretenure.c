/* What is worth allocating old.
 *
 * The idea is pretenuring by profile (Blackburn et al., "Pretenuring for Java", OOPSLA 2001; Cheng, Harper and Lee,
 * "Generational Stack Collection and Profile-Driven Pretenuring", PLDI 1998): what will be tenured anyway is born in
 * old space, and is never copied. The file names classes and sites; the runtime reads it with pretenure=FILE.
 *
 * The rule. A class or a site is worth it if most of its bytes survive to be tenured and live on long after:
 *   1. of its samples whose fate is known, those that died young and those that were tenured, the latter have at least
 *      MOST of the bytes;
 *   2. of all its bytes at least MOST are alive long after that: at the mean age at which its objects were tenured plus
 *      the share of the run that makes a lifetime long (5%). Kaplan and Meier's estimate (stats/curve.c), so that what
 *      was alive at the end counts for as long as it was seen;
 *   3. its mean lifetime is long by the same share, for certain (stats/lifetimes.c).
 * Of 1 and 2 it is the lower end of a 95% interval that has to be so high: four objects out of four say nothing, twelve
 * out of twelve do. Ages are in bytes allocated, in which a program's behaviour repeats itself; time does not.
 * Why MOST is three quarters: an object that is born old and dies young costs a part of a full collection, which is
 * dear, and one that is tenured costs a copy or two. Clifford et al. ("Memento Mori", ISMM 2015) ask for 85%, without
 * an interval.
 *
 * What a name covers. `class NAME` means all its objects, at whatever site; `site NAME` all sites of that name, of
 * whatever class; in all heaps of the process. So the parts, classes at sites, are added up by name over all heaps, and
 * a name is written only if what it covers is worth it as a whole *and no part of it is known not to be*. A class of
 * which one site makes garbage is not named, its other sites are. A site whose classes are all named is left out.
 *
 * What is left out: names that are not known, and those of 63 bytes or more, which the tool may have cut. Objects born
 * old in the profile (large ones, and those that a file names already) have no age at which they were tenured: where
 * there is nothing else, nothing is known. So the profile is to be one without pretenuring.
 *
 * What can go wrong: the profile is of a run, and others differ; objects whose fate is not known yet (young at the
 * end) count for nothing in 1, which errs towards leaving a name out. */
#include "views/lifetimes/pretenure.h"
#include "util/array.h"
#include "util/format.h"
#include "util/text.h"
#include "util/whole.h"
#include "views/lifetimes/view.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double most = 0.75;
enum { NAME_CUT = sizeof((struct life_site *)0)->name - 1, MOST_LINES = 8192, MOST_HEAPS = 32 };

/* ---- the evidence for a group ------------------------------------------------------------------------------------ */

struct fates {
    uint64_t count, young_count;
    double bytes, young_bytes, age_sum; /* tenured; died young; ages at which tenured, summed up */
};

static void add_fates(struct fates *fates, const struct life_sums *sums, unsigned flags, bool died) {
    if (flags & EDEN_LIFE_BORN_OLD) {
        return;
    }
    if (flags & EDEN_LIFE_TENURED) {
        fates->count += sums->count;
        fates->bytes += (double)sums->weight_bytes;
        fates->age_sum += fmax(0, (double)sums->bytes_sum - (double)sums->tenured_bytes_sum);
    } else if (died) {
        fates->young_count += sums->count;
        fates->young_bytes += (double)sums->weight_bytes;
    }
}

/* The share alive at the limit. It rests on samples observed until then: later times are unknown. */
static void gather_alive(struct life_evidence *evidence, const struct life_curve *curve) {
    const struct life_point *point = life_curve_at(curve, evidence->limit);
    size_t next = point ? (size_t)(point - curve->at) + 1 : 0;
    double watched = next < curve->count ? (double)curve->at[next].at_risk : 0;
    double samples = life_curve_samples(curve, evidence->limit);
    evidence->alive = point ? point->survival : 1;
    if (evidence->alive > 0 && watched / evidence->alive < samples) {
        samples = watched / evidence->alive;
    }
    evidence->alive_between = life_share_interval(evidence->alive, samples);
}

static enum life_worth judge(const struct life_evidence *evidence, const struct life_summary *summary) {
    if (evidence->tenured_between.low > most && evidence->alive_between.low > most && summary->verdict == LIFE_LONG &&
        summary->enough) {
        return LIFE_WORTH;
    }
    bool not_worth = evidence->tenured_between.high < most || evidence->alive_between.high < most ||
                     (summary->verdict == LIFE_SHORT && summary->enough);
    return not_worth ? LIFE_NOT_WORTH : LIFE_WORTH_UNKNOWN;
}

void life_evidence_gather(struct life_evidence *evidence, const struct life_site *group, double run_bytes,
                          const struct life_rule *rule) {
    struct fates fates = {0};
    for (unsigned flags = 0; flags < EDEN_LIFE_FLAGS; flags++) {
        add_fates(&fates, life_site_ended(group, LIFE_DIED, flags), flags, true);
        add_fates(&fates, life_site_ended(group, LIFE_CENSORED, flags), flags, false);
    }
    double bytes = fates.bytes + fates.young_bytes;
    *evidence = (struct life_evidence){
        .samples = fates.count + fates.young_count,
        .bytes = (double)group->births.weight_bytes,
        .tenured = bytes > 0 ? fates.bytes / bytes : NAN,
        .age = fates.count ? fates.age_sum / (double)fates.count : NAN,
        .alive = NAN,
        .alive_between = {0, 1},
    };
    evidence->limit = evidence->age + rule->share * run_bytes;
    evidence->tenured_between =
        life_share_interval(bytes > 0 ? evidence->tenured : 0, bytes > 0 ? (double)evidence->samples : 0);
    const struct life_heap heap = {.begun = true, .state = {.allocated_bytes = whole_of(run_bytes)}};
    const struct life_rule in_bytes = {rule->share, LIFE_BYTES};
    struct life_summary summary;
    struct life_curve curve;
    life_summarise(&summary, &heap, group, group, &in_bytes);
    life_curve_make(&curve, group, LIFE_BYTES, LIFE_BY_MEMORY);
    if (fates.count && curve.count && run_bytes > 0) {
        gather_alive(evidence, &curve);
    }
    evidence->worth = judge(evidence, &summary);
    evidence->promising = evidence->worth == LIFE_WORTH_UNKNOWN && evidence->tenured >= most && evidence->alive >= most;
}

/* ---- names, and the parts they cover ----------------------------------------------------------------------------- */

struct part {
    const struct life_site *site;
    enum life_worth worth;
    bool named; /* its class is */
};

struct name {
    const char *text;
    struct life_evidence evidence;
    bool is_site;
};

struct choice {
    const struct life_view_options *options;
    double run_bytes; /* the longest heap's */
    struct part *parts;
    size_t part_count;
    struct name *names; /* worth it or promising */
    size_t name_count, name_room;
};

static const char *class_name(const struct life_site *site) {
    return site->site == site->class_id && site->name[0] ? site->name : site->class_name;
}

/* "" where it is at no site. */
static const char *site_name(const struct life_site *site) { return site->site == site->class_id ? "" : site->name; }

static int by_class_name(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    return strcmp(class_name(x->site), class_name(y->site));
}

static int by_site_name(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    return strcmp(site_name(x->site), site_name(y->site));
}

/* Worth it first, then most memory first, then by name: the same profile gives the same file. */
static int by_use(const void *a, const void *b) {
    const struct name *x = a, *y = b;
    if (x->evidence.worth != y->evidence.worth) {
        return (int)y->evidence.worth - (int)x->evidence.worth;
    }
    if (x->evidence.bytes != y->evidence.bytes) {
        return x->evidence.bytes < y->evidence.bytes ? 1 : -1;
    }
    return x->is_site != y->is_site ? (int)x->is_site - (int)y->is_site : strcmp(x->text, y->text);
}

static bool gather_parts(struct choice *choice, const struct life_model *model) {
    size_t count = 0;
    for (size_t i = 0; i < model->heap_count; i++) {
        count += model->heaps[i].site_count;
        choice->run_bytes = fmax(choice->run_bytes, life_run(&model->heaps[i], LIFE_BYTES));
    }
    choice->parts = calloc(count + 1, sizeof *choice->parts);
    if (!choice->parts) {
        return false;
    }
    for (size_t i = 0; i < model->heap_count; i++) {
        for (size_t j = 0; j < model->heaps[i].site_count; j++) {
            struct life_evidence evidence;
            const struct life_site *site = &model->heaps[i].sites[j];
            life_evidence_gather(&evidence, site, choice->run_bytes, &choice->options->rule);
            choice->parts[choice->part_count++] = (struct part){.site = site, .worth = evidence.worth};
        }
    }
    return true;
}

static bool add_name(struct choice *choice, const struct name *name) {
    struct name *added = array_grow(&choice->names, &choice->name_room, choice->name_count, sizeof *added);
    if (added) {
        *added = *name;
        choice->name_count++;
    }
    return added;
}

/* Parts of one name. False: no memory. */
static bool judge_name(struct choice *choice, struct part *parts, size_t count, struct name *name) {
    struct life_site whole = {0};
    bool refuted = false, named = true, merged = true;
    for (size_t i = 0; i < count && merged; i++) {
        merged = life_site_merge(&whole, parts[i].site);
        refuted = refuted || parts[i].worth == LIFE_NOT_WORTH;
        named = named && parts[i].named;
    }
    if (merged && !refuted && !named) {
        life_evidence_gather(&name->evidence, &whole, choice->run_bytes, &choice->options->rule);
        bool worth = name->evidence.worth == LIFE_WORTH;
        for (size_t i = 0; worth && !name->is_site && i < count; i++) {
            parts[i].named = true;
        }
        merged = (!worth && !name->evidence.promising) || add_name(choice, name);
    }
    life_site_clear(&whole);
    return merged;
}

static bool judge_names(struct choice *choice, bool is_site) {
    const char *(*text_of)(const struct life_site *) = is_site ? site_name : class_name;
    if (choice->part_count) {
        qsort(choice->parts, choice->part_count, sizeof *choice->parts, is_site ? by_site_name : by_class_name);
    }
    for (size_t i = 0, end; i < choice->part_count; i = end) {
        struct name name = {.text = text_of(choice->parts[i].site), .is_site = is_site};
        for (end = i + 1; end < choice->part_count && strcmp(text_of(choice->parts[end].site), name.text) == 0;) {
            end++;
        }
        size_t length = strlen(name.text);
        if (length > 0 && length < NAME_CUT && !judge_name(choice, choice->parts + i, end - i, &name)) {
            return false;
        }
    }
    return true;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* In text.h's form, but that of what is written out each byte is: the runtime reads bytes. */
static void print_name(FILE *out, const struct name *name) {
    char piece[TEXT_PIECE];
    fputs(name->is_site ? "site " : "class ", out);
    for (const char *at = name->text; *at;) {
        const char *end = at + text_piece(piece, at, at == name->text, "");
        bool is_shown = *at == '\\' || *piece != '\\';
        fputs(is_shown ? piece : "", out);
        for (at = is_shown ? end : at; at < end; at++) {
            fprintf(out, "\\x%02x", (unsigned char)*at);
        }
    }
    fputc('\n', out);
}

static void print_share(FILE *out, double share, const struct life_interval *interval) {
    char text[FORMAT_MAX];
    fprintf(out, "%s (%.1f to ", life_percent(text, share), 100 * interval->low);
    fprintf(out, "%s)", life_percent(text, interval->high));
}

static void print_evidence(FILE *out, const struct life_evidence *evidence) {
    char text[FORMAT_MAX];
    fprintf(out, "#\n# %s allocated; ", life_format(text, LIFE_BYTES, evidence->bytes));
    fprintf(out, "%s sample%s died young or tenured:\n#   ", format_count(text, evidence->samples),
            plural(evidence->samples));
    print_share(out, evidence->tenured, &evidence->tenured_between);
    fprintf(out, " tenured, at an age of %s\n#   ", life_format(text, LIFE_BYTES, evidence->age));
    print_share(out, evidence->alive, &evidence->alive_between);
    fprintf(out, " alive at an age of %s\n", life_format(text, LIFE_BYTES, evidence->limit));
}

static void print_head(FILE *out, const struct life_model *model, const struct life_view_options *options) {
    char number[FORMAT_MAX];
    fprintf(out,
            LIFE_PRETENURE_MARK
            "# To use it: EDEN_OPTIONS=pretenure=FILE. Lines may be added and removed.\n"
            "#\n"
            "# A class or site is named if at least %.0f%% of its bytes are tenured, and as many are alive %.3g%% of "
            "the run\n"
            "# later, where the run is measured in bytes allocated. The 95%% confidence limits are in parentheses.\n"
            "#\n",
            100 * most, 100 * options->rule.share);
    size_t heaps = model->heap_count < MOST_HEAPS ? model->heap_count : MOST_HEAPS;
    for (size_t i = 0; i < heaps; i++) {
        life_heading(out, &model->heaps[i], "profiled");
    }
    if (heaps < model->heap_count) {
        fprintf(out, "# and %s more heaps\n", format_count(number, model->heap_count - heaps));
    }
    if (model->lost) {
        fprintf(out, "# %s records or objects were lost: the evidence is incomplete\n",
                format_count(number, model->lost));
    }
}

static void print_names(FILE *out, const struct choice *choice, struct life_pretenured *named) {
    size_t lines = 0;
    char number[FORMAT_MAX];
    for (size_t i = 0; i < choice->name_count; i++) {
        const struct name *name = &choice->names[i];
        bool worth = name->evidence.worth == LIFE_WORTH;
        named->promising += !worth;
        if (++lines > MOST_LINES) {
            continue;
        }
        named->classes += worth && !name->is_site;
        named->sites += worth && name->is_site;
        print_evidence(out, &name->evidence);
        fputs(worth ? "" : "# too few samples to be sure: ", out);
        print_name(out, name);
    }
    if (lines > MOST_LINES) {
        fprintf(out, "#\n# and %s more\n", format_count(number, lines - MOST_LINES));
    } else if (lines == 0) {
        fputs("#\n"
              "# no class or site qualifies\n",
              out);
    }
}

bool life_pretenure(FILE *out, const struct life_model *model, const struct life_view_options *options,
                    struct life_pretenured *named, struct failure *why) {
    struct choice choice = {.options = options};
    struct life_pretenured counted = {0};
    bool made = gather_parts(&choice, model) && judge_names(&choice, false) && judge_names(&choice, true);
    if (made) {
        if (choice.name_count) {
            qsort(choice.names, choice.name_count, sizeof *choice.names, by_use);
        }
        print_head(out, model, options);
        print_names(out, &choice, &counted);
    }
    free(choice.parts);
    free(choice.names);
    if (named) {
        *named = counted;
    }
    return made || life_no_memory(why);
}
