/* CSV, with a column that says what was alive at the end: a statistics package needs it to treat lifetimes right.
 *
 * Where objects were recorded one by one, a row is an object. Else a row is a bucket of the histogram of a site on one
 * clock; a site's rows of one clock add up to its objects. */
#include "util/csv.h"
#include "views/lifetimes/view.h"
#include <inttypes.h>
#include <stdlib.h>

static void print_site(FILE *out, const struct life_heap *heap, uint32_t index, const struct life_site *site) {
    life_csv_begin(out, heap);
    csv_field(out, site ? site->class_name : "");
    fprintf(out, ",%" PRIu32 ",", index);
    csv_field(out, site ? site->name : "");
}

static void print_buckets(FILE *out, const struct life_heap *heap, const struct life_site *site,
                          enum life_outcome outcome, enum life_clock clock) {
    const struct life_histogram *histogram = &site->histogram[outcome][clock];
    for (size_t i = 0; i < histogram->count; i++) {
        const struct life_bucket *at = &histogram->at[i];
        print_site(out, heap, site->site, site);
        fprintf(out, ",%d,%s,%" PRIu64 ",", outcome == LIFE_CENSORED, life_clock_names[clock],
                histogram_lower(at->bucket));
        if (histogram_upper(at->bucket) != UINT64_MAX) {
            fprintf(out, "%" PRIu64, histogram_upper(at->bucket));
        }
        fprintf(out, ",%" PRIu64 ",%.10g,%" PRIu64, at->count, (double)at->weight / EDEN_WEIGHT_ONE, at->weight_bytes);
        life_csv_end(out, heap);
    }
}

static void print_histograms(FILE *out, const struct life_model *model) {
    fputs("pid,heap,class,index,site,censored,clock,lower,upper,samples,objects,memory_bytes,serial\r\n", out);
    for (size_t i = 0; i < model->heap_count; i++) {
        for (size_t j = 0; j < model->heaps[i].site_count; j++) {
            for (enum life_outcome outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
                for (enum life_clock clock = 0; clock < LIFE_CLOCKS; clock++) {
                    print_buckets(out, &model->heaps[i], &model->heaps[i].sites[j], outcome, clock);
                }
            }
        }
    }
}

static int by_index(const void *key, const void *element) {
    const uint32_t *index = key;
    const struct life_site *site = element;
    return (*index > site->site) - (*index < site->site);
}

/* A time that is 0 where there was none. */
static void print_time(FILE *out, uint64_t time) {
    time ? (void)fprintf(out, ",%" PRIu64, time) : (void)fputc(',', out);
}

static bool print_object(void *context, const struct life_heap *heap, const struct eden_life_record *record) {
    FILE *out = context;
    const struct life_site *site =
        heap->site_count ? bsearch(&record->site, heap->sites, heap->site_count, sizeof *heap->sites, by_index) : NULL;
    print_site(out, heap, record->site, site);
    fprintf(out, ",%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64, record->censored != 0, record->bytes,
            record->death_ns - record->birth_ns, record->death_bytes - record->birth_bytes);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, record->birth_ns, record->birth_bytes,
            record->death_ns, record->death_bytes);
    print_time(out, record->last_ns);
    print_time(out, record->last_bytes);
    print_time(out, record->tenured_ns);
    print_time(out, record->tenured_bytes);
    fprintf(out, ",%" PRIu32 ",%" PRIu32 ",%d,%d,%.10g", record->scavenges, record->fulls,
            (record->flags & EDEN_LIFE_BORN_OLD) != 0, (record->flags & EDEN_LIFE_NEPOTISM) != 0,
            (double)record->weight / EDEN_WEIGHT_ONE);
    life_csv_end(out, heap);
    return !ferror(out);
}

static bool print_objects(FILE *out, const struct life_model *model, struct failure *why) {
    fputs("pid,heap,class,index,site,censored,bytes,lifetime_ns,lifetime_bytes,birth_ns,birth_bytes,end_ns,end_bytes,"
          "last_seen_ns,last_seen_bytes,tenured_ns,tenured_bytes,scavenges,fulls,born_old,nepotism,weight,serial\r\n",
          out);
    return model->objects.each(model->objects.from, model, print_object, out, why);
}

bool life_view_csv(FILE *out, const struct life_model *model, const struct life_view_options *options,
                   struct failure *why) {
    (void)options;
    if (model->objects.each) {
        return print_objects(out, model, why);
    }
    print_histograms(out, model);
    return true;
}
