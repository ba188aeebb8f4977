/* machine.waits: the thread that collects waits for the machine, and the program with it.
 *
 * The kernel says what that thread did (kernel/pause_causes.def). No parameter cures waiting for a CPU, for a disk or
 * for a control group's CPU time; but who looks at the other findings must know how much of the time they do not
 * explain. */
#include "advise/rules/rule.h"
#include "util/format.h"
#include "util/sum.h"
#include <math.h>
#include <stdio.h>

static const enum pause_cause waits[] = {PAUSE_no_cpu, PAUSE_throttled, PAUSE_disk};
enum { WAITS = sizeof waits / sizeof *waits };

static const char *const whys[PAUSE_CAUSES] = {
    [PAUSE_no_cpu] = "More threads want to run than there are CPUs. While the thread that collects waits for one, the "
                     "whole program does.",
    [PAUSE_throttled] = "The control group has used up its CPU time (cpu.max), so the kernel stops its threads until "
                        "the next period. A collection that is stopped stops the whole program.",
    [PAUSE_disk] = "Pages of the heap were not in memory: swapped out, or of a file. A collection looks at all that "
                   "lives, so it brings them back one by one.",
};
static const char *const hows[PAUSE_CAUSES] = {
    [PAUSE_no_cpu] = "no parameter cures this: give the program more CPUs, or move its neighbours; `edenscope report "
                     "--view stops` shows which pauses waited",
    [PAUSE_throttled] = "no parameter cures this: raise cpu.max of the control group (CPUQuota of a unit, a CPU limit "
                        "of a container); `edenscope report --view stops` shows which pauses were stopped",
    [PAUSE_disk] = "no parameter cures this: give it more memory, or less to others; max_heap below what is free keeps "
                   "the heap out of swap; `edenscope report --view stops` shows which pauses waited",
};

static double waited(const struct pause_time *spent) {
    double ns = 0;
    for (int i = 0; i < WAITS; i++) {
        ns += (double)spent->ns[waits[i]];
    }
    return ns;
}

static enum pause_cause longest_wait(const struct pause_time *spent) {
    enum pause_cause longest = waits[0];
    for (int i = 1; i < WAITS; i++) {
        longest = spent->ns[waits[i]] > spent->ns[longest] ? waits[i] : longest;
    }
    return longest;
}

void rule_machine_waits(const struct tune_facts *facts, struct findings *findings) {
    const struct pause_time *of = facts->spent;
    struct pause_time all = of[TUNE_SCAVENGES];
    pause_time_add(&all, &of[TUNE_FULLS]);
    const double ns = waited(&all), share = facts->wall_ns ? fmin(ns / (double)facts->wall_ns, 1) : 0;
    if (share < TUNE_MATTERS) {
        return;
    }
    uint64_t worked = all.ns[PAUSE_working];
    sum_add(&worked, all.ns[PAUSE_faulting]);
    struct finding *finding = finding_add(findings, "machine.waits", share);
    char work[FORMAT_MAX], cpu[FORMAT_MAX], throttled[FORMAT_MAX], disk[FORMAT_MAX];
    finding_evidence(finding,
                     "the threads that collected worked for %s, were without a CPU for %s, throttled for %s, and "
                     "waited for a disk for %s",
                     format_ns(work, worked), format_ns(cpu, all.ns[PAUSE_no_cpu]),
                     format_ns(throttled, all.ns[PAUSE_throttled]), format_ns(disk, all.ns[PAUSE_disk]));
    const enum pause_cause cause = longest_wait(&all);
    finding_why(finding, "%s", whys[cause]);
    finding_how(finding, "%s", hows[cause]);
    finding_explains(finding, waited(&of[TUNE_SCAVENGES]), waited(&of[TUNE_FULLS]));
}
