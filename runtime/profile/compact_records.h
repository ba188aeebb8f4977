/* Compact records: every object one by one, at a few bytes each. */
#ifndef EDEN_PROFILE_COMPACT_RECORDS_H
#define EDEN_PROFILE_COMPACT_RECORDS_H

#include "profile/aggregator.h"

struct profile;
void compact_records_begin(const struct profile *profile);   /* the clock has begun, */
void compact_records_advance(const struct profile *profile); /* or has a new epoch, */
void compact_records_end(const struct profile *profile);     /* or ends: before what is censored is reported */
void compact_records_add(struct aggregator *out, const struct eden_end *end);
void compact_records_add_walked(struct aggregator *out, uint64_t birth, uint32_t site, size_t bytes, bool censored);
void compact_records_flush(struct aggregator *out);

#endif
