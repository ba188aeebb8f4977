# bench: the cost of probes, log and recording, and of a large old array, as ratios of paired runs. Never part of `make test`.
BENCH_ROWS ?= 300000
BENCH_PAIRS ?= 30
BENCH_TOOLS := $(B)/bench/selftime.so $(B)/bench/watched.so

$(B)/bench/%.so: bench/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -shared -o $@ $< -lelf

$(B)/bench/data.csv: $(B)/workloads/mkdata
	@mkdir -p $(@D)
	$< $(BENCH_ROWS) >$@.new && mv $@.new $@

bench: $(BENCH_TOOLS) $(B)/bench/remembered $(B)/workloads/dataframe $(B)/bin/edenscope $(B)/bench/data.csv ## measure what watching costs, and what cards spare (paired runs, about ten minutes)
	@B=$(B) ROWS=$(BENCH_ROWS) PAIRS=$(BENCH_PAIRS) bench/run

HOSTILE_PAIRS ?= 10
.PHONY: bench-hostile
bench-hostile: $(B)/tests/hostile $(B)/tests/exercise $(B)/bin/edenscope ## time stat -p, and the program, beside 100 hostile processes (paired runs, about two minutes; root)
	@bench/hostile.py -n $(HOSTILE_PAIRS) -B $(B)

include bench/ephemerons.mk
include bench/lifetimes.mk
include bench/tune.mk
include bench/simulate.mk
include bench/repro.mk
