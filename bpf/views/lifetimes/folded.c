/* Folded stacks, as flame graph tools read them: "frame;frame;frame amount", one a line.
 *
 * The frames are the class, the site, if there is one, and how long the objects lived: short-lived and long-lived by
 * the rule; "unknown" is what was alive at the end before it had reached the limit. The amounts of a site add up to
 * what was sampled there, in objects or bytes. With many heaps their labels are the first frames. With native stacks
 * the frames are the program's functions, outermost first, then the class. */
#include "util/sum.h"
#include "util/text.h"
#include "views/lifetimes/view.h"
#include <inttypes.h>

/* As the survival curve has it: a bucket that contains the limit is above it. */
static void split(uint64_t amount[LIFE_LONG + 1], const struct life_site *site, double limit,
                  const struct life_view_options *options) {
    for (int outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
        const struct life_histogram *histogram = &site->histogram[outcome][options->rule.clock];
        for (size_t i = 0; i < histogram->count; i++) {
            const struct life_bucket *at = &histogram->at[i];
            bool is_short = (double)histogram_upper(at->bucket) <= limit;
            enum life_verdict verdict = limit <= 0                                ? LIFE_UNKNOWN
                                        : !is_short                               ? LIFE_LONG
                                        : (enum life_outcome)outcome == LIFE_DIED ? LIFE_SHORT
                                                                                  : LIFE_UNKNOWN;
            sum_add(&amount[verdict], options->by == LIFE_BY_MEMORY ? at->weight_bytes : at->weight);
        }
    }
}

/* A label; no frame holds what separates them. Blanks may stand in one: the amount is behind the line's last. */
static void print_frame(FILE *out, const char *label) {
    for (; *label; label++) {
        *label == ';' ? (void)fputs("\\x3b", out) : (void)fputc(*label, out);
    }
    fputc(';', out);
}

static void print_functions(FILE *out, const struct life_stacks *stacks, const struct life_stack *stack) {
    for (uint32_t i = stack->depth; i-- > 0;) {
        char label[LIFE_HEAP_LABEL];
        print_frame(out, text_escape(label, sizeof label, stacks->name[stack->frame[i]], ""));
    }
}

static void print_site(FILE *out, const struct life_model *model, const struct life_heap *heap,
                       const struct life_site *site, const struct life_view_options *options) {
    static const enum life_verdict order[] = {LIFE_SHORT, LIFE_LONG, LIFE_UNKNOWN};
    uint64_t amount[LIFE_LONG + 1] = {0};
    char label[LIFE_HEAP_LABEL];
    split(amount, site, options->rule.share * life_run(heap, options->rule.clock), options);
    for (int i = 0; i < 3; i++) {
        uint64_t value = amount[order[i]];
        if (options->by != LIFE_BY_MEMORY) {
            value = value / EDEN_WEIGHT_ONE + (value % EDEN_WEIGHT_ONE >= EDEN_WEIGHT_ONE / 2);
        }
        if (value == 0) {
            continue;
        }
        if (model->heap_count > 1) {
            print_frame(out, life_heap_label(label, heap));
        }
        if (site->stack) {
            print_functions(out, model->stacks, site->stack);
        }
        print_frame(out, life_class_label(label, site));
        if (!site->stack && site->site != site->class_id) {
            print_frame(out, life_site_label(label, site));
        }
        fprintf(out, "%s %" PRIu64 "\n", life_verdict_name(order[i]), value);
    }
}

bool life_view_folded(FILE *out, const struct life_model *model, const struct life_view_options *options,
                      struct failure *why) {
    (void)why;
    for (size_t i = 0; i < model->heap_count; i++) {
        for (size_t j = 0; j < model->heaps[i].site_count; j++) {
            print_site(out, model, &model->heaps[i], &model->heaps[i].sites[j], options);
        }
    }
    return true;
}
