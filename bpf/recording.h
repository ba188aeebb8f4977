/* A recording: one SQLite file that holds the events, the kernel's aggregates, and what they are of.
 *
 * Safe against being killed at any moment: everything is written in short transactions with a rollback journal, so that
 * whoever opens the file next finds the last committed state. docs/recording.md describes the tables. */
#ifndef EDEN_RECORDING_H
#define EDEN_RECORDING_H

#include "source.h"

#define RECORDING_VERSION 1

struct recording;

/* Makes a new file. An existing file at path is replaced only once the new one is whole enough to read. */
struct recording *recording_create(const char *path, char *const *command, struct failure *why);
bool recording_add_event(struct recording *recording, const struct event *event, struct failure *why);
/* Writes the aggregates as of now and commits; called on an interval and at the end. */
bool recording_commit(struct recording *recording, const struct model *model, bool finished, struct failure *why);
void recording_close(struct recording *recording);

struct recording *recording_open(const char *path, struct failure *why); /* to read; checks that it is one */
bool recording_model(struct recording *recording, struct model *model, struct failure *why);
bool recording_finished(const struct recording *recording); /* false: the recorder was killed; figures say "at least" */
/* Every event in order of time; stops where on_event returns false. */
bool recording_events(struct recording *recording, bool (*on_event)(void *context, const struct event *event),
                      void *context, struct failure *why);

#endif
