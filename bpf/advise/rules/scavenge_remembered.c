/* scavenge.remembered: scavenges slowed by large remembered objects.
 *
 * With remembered_set=object a large old object into which one young reference was stored is scanned whole by each
 * scavenge, for as long as it refers to anything young: on the tuning paper's data frame scavenges took 52 times as
 * long. With cards only the parts that were stored into are scanned.
 *
 * remembered__scan reports the inspected slots and the young references of each scan of a large object. Its duration
 * includes the copying of referenced objects, which is necessary work. The cost reported here is that of inspection
 * only: at most the time of slots without young references, at the pace of the fastest scans. */
#include "advise/facts/scavenges.h"
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>
#include <math.h>

static const double SLOTS_A_REFERENCE = 16; /* that are looked at for each young reference found: more is in vain */

void rule_scavenge_remembered(const struct tune_facts *facts, struct findings *findings) {
    uint64_t ns = 0, objects = 0, bytes = 0, slots = 0, references = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        ns += pass->full ? 0 : pass->part_ns[EDEN_PHASE_scavenge__remembered];
        objects += pass->full ? 0 : pass->part_objects[EDEN_PHASE_scavenge__remembered];
        bytes += pass->full ? 0 : pass->part_bytes[EDEN_PHASE_scavenge__remembered];
    }
    for (size_t i = 0; i < facts->scan_count; i++) {
        slots += facts->scans[i].slots;
        references += facts->scans[i].young_references;
    }
    bool object_mode = tune_number(facts, EDEN_PARAM_remembered_set) == 0;
    double share = tune_share_of_time(facts, (double)ns), large = tune_number(facts, EDEN_PARAM_large_object);
    if (share < TUNE_MATTERS || !object_mode) {
        return;
    }
    if (!facts->scans_reported && (double)bytes < 16 * large) {
        return; /* nothing large was scanned */
    }
    if (!facts->scans_reported) { /* by bytes: only large objects have so many each */
        slots = bytes / 8;
        references = objects;
    }
    if ((double)slots < SLOTS_A_REFERENCE * (double)references || slots * 8 < (uint64_t)large) {
        return;
    }
    char took[FORMAT_MAX], read[FORMAT_MAX], count[FORMAT_MAX], found[FORMAT_MAX], name[TUNE_LABEL], one[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "scavenge.remembered", share);
    finding_explains(finding, (double)ns, 0);
    finding_evidence(finding, "scanning the remembered set took %s, %.0f%% of scavenges; it read %s of old objects",
                     format_ns(took, ns),
                     100 * (double)ns / fmax((double)tune_figure(facts, EDEN_FIGURE_scavenge_ns), 1),
                     format_bytes(read, bytes));
    for (size_t i = 0; i < facts->scan_count && i < 3; i++) {
        const struct tune_scans *scan = &facts->scans[i];
        finding_evidence(finding, "%s: %s scans of %s each on average, for %s young references in total; %s",
                         tune_class_label(name, facts, scan->class_id), format_count(count, scan->count),
                         format_bytes(one, scan->slots * 8 / scan->count), format_count(found, scan->young_references),
                         format_ns(took, scan->duration_ns));
    }
    finding_why(finding, "Each scavenge scans an old object with a young reference in full, even if few of its slots "
                         "were stored into. With cards, it scans only the parts that were stored into.");
    finding_set(finding, EDEN_PARAM_remembered_set, 1);
    finding_how(finding, "now it is object; of %s inspected slots, one in %.0f had a young reference",
                format_count(count, slots), (double)slots / fmax((double)references, 1));
    double gain = tune_share_of_gc(facts, (double)ns);
    finding_gain(finding, gain * 0.5, gain);
    finding_cost(finding, "one byte per 512 bytes of old space");
}
