/* The collections of a recording as slices: for each thread a track, on which phases nest. For traces that other tools
 * read. */
#ifndef EDEN_TRACKS_H
#define EDEN_TRACKS_H

#include "eden_values.h"
#include "kernel/event.h"

enum { TRACK_OPEN = 4 }; /* phases nest three deep */

/* A phase, once it has ended. */
struct slice {
    enum eden_phase phase;
    uint64_t since_ns, end_ns;
    bool has_begun;           /* tracks_sink.begin was called for it; else its start was not seen */
    const struct event *done; /* the event that ended it; NULL: its end was not seen */
};

struct track {
    struct process_key process;
    size_t process_number; /* from 0, in the order in which they came; others may have had its pid before */
    uint32_t pid_use;      /* how many processes had its pid before */
    uint32_t tid;
    uint64_t last_ns; /* of the last event, or the latest one before it */
    size_t number;    /* from 0 */
    size_t open;      /* slices that have begun: slice[0] is the outermost */
    struct slice slice[TRACK_OPEN];
};

/* Where slices go. */
struct track_sink {
    void (*begin)(void *context, const struct track *track); /* the innermost one has */
    void (*end)(void *context, const struct track *track,
                const struct slice *slice); /* track->slice has it no longer */
    void *context;
};

struct tracks;

/* begin_ns, end_ns: of the recording. NULL: no memory. */
struct tracks *tracks_make(const struct track_sink *sink, uint64_t begin_ns, uint64_t end_ns);
/* The track of an event, at the event's time; *is_new, where its process is. NULL: no memory; the event is counted as
 * left out. Valid until the next call. */
struct track *tracks_of(struct tracks *tracks, const struct event *event, bool *is_new);
/* Begins the slice that the event begins, if it does, and ends those that are over then. */
void tracks_begin(struct tracks *tracks, struct track *track, const struct event *event);
/* Ends the slice that the event ends, if it does. */
void tracks_end(struct tracks *tracks, struct track *track, const struct event *event);
/* Ends all slices, with the recording. Returns how many events were left out. */
uint64_t tracks_finish(struct tracks *tracks);
void tracks_free(struct tracks *tracks);

#endif
