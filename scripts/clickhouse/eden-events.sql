-- The events of edenscope in ClickHouse: lines of `edenscope script --json --label host=NAME --label service=NAME`.
-- Made by `make docs` from probes/*.def. Change these, not this.
--
-- One table for all probes: a column for each argument, which is 0 or empty where the probe does not pass it;
-- docs/probes.md says what it means for each probe. docs/fleet.md says how lines get here, and what to ask.
-- Each shard of the cluster `eden` has both tables; a host's events are on one shard.

CREATE DATABASE IF NOT EXISTS eden;

CREATE TABLE IF NOT EXISTS eden.events_local
(
    host String, -- labels
    service String,
    recording_ns UInt64, -- when the recording began, in ns since 1970: it identifies the recording among those of a host
    wall_ns UInt64, -- ns since 1970
    time_ns UInt64, -- ns of CLOCK_MONOTONIC
    command Nullable(String),
    pid UInt32,
    tid UInt32,
    probe String, -- empty: the last line of a recording, with the four columns that follow
    observed_ns UInt64, -- observed time
    events UInt64, -- lines of events
    lost UInt64, -- events that were lost while the recording was made
    partial String, -- why the recording is not whole; empty: it is
    heap String, -- address
    heap_id UInt64, -- count
    name String, -- string
    allocated_since UInt64, -- bytes
    remembered_since UInt64, -- count
    forgotten_since UInt64, -- count
    tenured_since UInt64, -- count
    pretenured_objects UInt64, -- count
    pretenured_bytes UInt64, -- bytes
    class_id UInt64, -- count
    of_class UInt64, -- count
    value String, -- string
    seq UInt64, -- count
    cause String, -- scavenge_cause, full_cause
    eden_used UInt64, -- bytes
    survivor_used UInt64, -- bytes
    remembered_now UInt64, -- count
    old_used UInt64, -- bytes
    duration UInt64, -- ns
    tenured_bytes UInt64, -- bytes
    tenured_objects UInt64, -- count
    tenure_threshold String, -- address
    survivor_start String, -- address
    survivor_limit String, -- address
    objects UInt64, -- count
    bytes UInt64, -- bytes
    old_capacity UInt64, -- bytes
    requested_bytes UInt64, -- bytes
    free_chunks UInt64, -- count
    largest_free UInt64, -- bytes
    segments UInt64, -- count
    freed_bytes UInt64, -- bytes
    young_freed UInt64, -- bytes
    object String, -- address
    reason String, -- tenure_reason, failure_reason, decision_reason
    remembered UInt64, -- count
    origin String, -- remember_origin
    site UInt64, -- count
    address String, -- address
    ephemeron String, -- address
    key_class_id UInt64, -- count
    queue_length UInt64, -- count
    weight UInt64, -- count
    birth UInt64, -- bytes
    batch_kind String, -- batch_kind
    records String, -- address
    record_count UInt64, -- count
    record_bytes UInt64, -- bytes
    slots UInt64, -- count
    young_refs UInt64, -- count
    count UInt64, -- count
    decision String, -- decision
    from_bytes UInt64, -- bytes
    to_bytes UInt64, -- bytes
    classes UInt64, -- count
    serial UInt64 -- of the heap, in its recording
)
ENGINE = MergeTree()
PARTITION BY toYYYYMMDD(toDateTime(intDiv(wall_ns, 1000000000), 'UTC'))
ORDER BY (service, host, probe, wall_ns);

CREATE TABLE IF NOT EXISTS eden.events AS eden.events_local
ENGINE = Distributed(eden, eden, events_local, cityHash64(host));
