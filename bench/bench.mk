# bench: the cost of probes, log and recording, and of a large old array, as ratios of paired runs. Never part of `make test`.
BENCH_ROWS ?= 300000
BENCH_PAIRS ?= 30
BENCH_TOOLS := $(B)/bench/selftime.so $(B)/bench/watched.so

$(B)/bench/%.so: bench/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -shared -o $@ $< -lelf

# Data sets: rows-N.csv has N rows.
$(B)/%.csv: $(B)/workloads/mkdata
	@mkdir -p $(@D)
	$< --rows $(lastword $(subst -, ,$*)) >$@.new && mv $@.new $@
BENCH_DATA := $(B)/bench/rows-$(BENCH_ROWS).csv

bench: $(BENCH_TOOLS) $(B)/bench/remembered $(B)/workloads/dataframe $(B)/bin/edenscope $(BENCH_DATA) ## measure what watching costs, and what cards spare (paired runs, about ten minutes)
	@B=$(B) ROWS=$(BENCH_ROWS) PAIRS=$(BENCH_PAIRS) bench/run

HOSTILE_PAIRS ?= 10
.PHONY: bench-hostile
bench-hostile: $(B)/tests/hostile $(B)/tests/exercise $(B)/bin/edenscope ## time stat -p, and the program, beside 100 hostile processes (paired runs, about two minutes; root)
	@bench/hostile.py -n $(HOSTILE_PAIRS) -B $(B)

.PHONY: bench-now
bench-now: $(B)/tests/held $(B)/bin/edenscope ## time until list and stat say that a process is in a collection (root)
	@bench/now.py -B $(B)

# Programs that measure one thing of the collector, on libeden alone.
$(B)/bench/ephemerons $(B)/bench/remembered $(B)/bench/pretenure $(B)/bench/scaling: $(B)/bench/%: $(B)/bench/%.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm -lpthread

.PHONY: bench-ephemerons bench-remembered bench-scaling bench-pretenure
bench-ephemerons: $(B)/bench/ephemerons ## time one full collection with 277,777 ephemerons in a chain of keys
	@$<
bench-remembered: $(B)/bench/remembered ## time scavenges with a large old array: remembered_set=object and card
	@bench/remembered.py $<
bench-scaling: $(B)/bench/scaling ## time collections by survivors, live heap and segments; pauses with 4 GB alive (twenty minutes, 20 GB)
	@bench/scaling.py $<
bench-pretenure: $(B)/bench/pretenure $(B)/workloads/dataframe $(BENCH_DATA) ## time programs with pretenure=FILE, auto and none (paired runs)
	@bench/pretenure.py $(B)/bench/pretenure $(B)/workloads/dataframe $(BENCH_DATA)

# The same programs on eden and other systems (bench/peers/peer.h). PROGRAMS, PEER_SYSTEMS: some of them only.
# WHIPPET: a checkout of Whippet, to compare with its collectors.
WHIPPET ?=
PEER_PASSES ?= 5
PEER_SYSTEMS ?=
PEER_SCALE ?= full
PEER_CPUS ?= 1
PEERS := $(B)/bench/peers
PEER_PROGRAMS := alloc array gcbench json lisp lru queue trees
PEER_BUILT := $(PEER_PROGRAMS:%=$(PEERS)/eden/%) $(PEER_PROGRAMS:%=$(PEERS)/malloc/%)
PEER_BUILT += $(if $(wildcard /usr/include/mimalloc.h),$(PEER_PROGRAMS:%=$(PEERS)/mimalloc/%))
PEER_BUILT += $(if $(wildcard /usr/include/gc/gc.h),$(PEER_PROGRAMS:%=$(PEERS)/libgc/%))
PEER_BUILT += $(if $(shell command -v ocamlopt),$(PEERS)/ocaml/peers)
PEER_BUILT += $(if $(shell command -v javac),$(PEERS)/java/Peers.class)

# A system in C: its name, its flags, and what it is linked with.
define PEER_RULE
$(PEERS)/$(1)/%: bench/peers/%.c $(wildcard bench/peers/*.h) $(filter %.a,$(3))
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS_ALL) $$(CFLAGS_ALL) $(2) -o $$@ $$< $(3) $$(LDFLAGS)
endef
PEER_PLAIN := -DPEER_SYSTEM='"peer_plain.h"'
$(eval $(call PEER_RULE,eden,,$(B)/lib/libeden.a -lm -lpthread))
$(eval $(call PEER_RULE,malloc,$(PEER_PLAIN)))
$(eval $(call PEER_RULE,mimalloc,$(PEER_PLAIN) -DPEER_MIMALLOC,-lmimalloc))
$(eval $(call PEER_RULE,libgc,$(PEER_PLAIN) -DPEER_LIBGC,-lgc))
$(PEERS)/java/Peers.class: bench/peers/Peers.java
	@mkdir -p $(@D)
	javac -Xlint:all -Werror -d $(@D) $<
# Copied first: ocamlopt writes its objects beside the source.
$(PEERS)/ocaml/peers: bench/peers/peers.ml
	@mkdir -p $(@D)
	cp $< $(@D)
	cd $(@D) && ocamlopt -O3 -unsafe -inline 100 unix.cmxa peers.ml -o peers

PEER_WHIPPETS := $(if $(WHIPPET),$(addprefix bench-peers-whippet-,semi mmc generational-mmc pcc))
.PHONY: bench-peers bench-peers-programs $(PEER_WHIPPETS)
$(PEER_WHIPPETS): bench-peers-whippet-%:
	@$(MAKE) --no-print-directory -s -f bench/peers/whippet.mk WHIPPET=$(abspath $(WHIPPET)) GC_COLLECTOR=$* \
	    PEERS=$(PEERS) PEER_PROGRAMS='$(PEER_PROGRAMS)'
bench-peers-programs: $(B)/bench/selftime.so $(PEER_BUILT) $(PEER_WHIPPETS)
bench-peers: ## compare programs on eden, OpenJDK, OCaml, libgc, mimalloc and malloc at equal memory limits (five passes, about an hour)
	@scripts/setup peers
	@$(MAKE) --no-print-directory -s $(JOBS) bench-peers-programs
	@bench/peers.py -B $(B) --passes $(PEER_PASSES) --only '$(PROGRAMS)' --systems '$(PEER_SYSTEMS)' \
	    --scale $(PEER_SCALE) --cpus $(PEER_CPUS) --json $(PEERS).json

# What lifetimes cost. PROGRAMS, SAMPLINGS: some of them only.
LIFETIMES_ROWS ?= 1000000
LIFETIMES_PAIRS ?= 20
EPHEMERON_PAIRS ?= 5
LIFE_WORKLOADS := $(addprefix $(B)/workloads/,dataframe honeyginger mobidyc bloc moose)
# The choices; empty: all.
PROGRAMS ?=
SAMPLINGS ?=

LIFETIMES_DATA := $(B)/bench/rows-$(LIFETIMES_ROWS).csv

.PHONY: bench-lifetimes
bench-lifetimes: $(B)/bench/selftime.so $(B)/bin/edenscope $(LIFE_WORKLOADS) $(LIFETIMES_DATA) $(BENCH_DATA) ## time the five programs under edenscope lifetimes, at four rates (paired runs, about fifty minutes; root)
	@bench/lifetimes.py -n $(LIFETIMES_PAIRS) -e $(EPHEMERON_PAIRS) -B $(B) --selftime $(B)/bench/selftime.so \
	    --programs '$(PROGRAMS)' --samplings '$(SAMPLINGS)' $(LIFETIMES_DATA) $(BENCH_DATA)

# Whether samples have the classes' shares.
SHARES_SEEDS ?= 20
.PHONY: bench-shares
bench-shares: $(B)/bin/edenscope $(LIFE_WORKLOADS) $(LIFETIMES_DATA) ## compare the shares of classes at 1% and 0.1% with all objects, over 20 seeds (ten minutes; root)
	@bench/shares.py -n $(SHARES_SEEDS) -B $(B) --programs '$(PROGRAMS)' $(LIFETIMES_DATA)

# Whether a process that was observed is left as it was.
LETGO_PAIRS ?= 10
CPPFLAGS_bench := -Iworkloads
$(B)/bench/steady: $(B)/bench/steady.o $(B)/obj/workloads/program.o $(call workload_parts,honeyginger) $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -ljansson -lm -lpthread

.PHONY: bench-letgo
bench-letgo: $(B)/bench/steady $(B)/bin/edenscope ## time a process before and after ten seconds of lifetimes (ten minutes; root)
	@bench/letgo.py -n $(LETGO_PAIRS) -B $(B)

# What it costs to be watched with all the machine.
WATCHING_ROUNDS ?= 15
$(B)/bench/mourning: $(B)/bench/mourning.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm -lpthread

.PHONY: bench-watching
bench-watching: $(BENCH_TOOLS) $(B)/bench/mourning $(B)/workloads/dataframe $(B)/bin/edenscope $(BENCH_DATA) ## time programs beside record -a and export -a, and after them (paired runs, about seven minutes; root)
	@bench/watching.py -n $(WATCHING_ROUNDS) -B $(B) $(BENCH_DATA)

# How good tune is, against an exhaustive grid. PROGRAMS: some only; GRID_POINTS: how many of its points, 0 for all.
TUNE_ROUNDS ?= 21
TUNE_BUDGET ?= 60
GRID_POINTS ?= 0

.PHONY: bench-tune
bench-tune: $(B)/bin/edenscope $(WORKLOADS:%=$(B)/workloads/%) $(B)/bench/pretenure $(BENCH_DATA) ## compare tune with a grid of 216 points on each program (about an hour; root for the rules)
	@bench/tune_grid.py -n $(TUNE_ROUNDS) --budget $(TUNE_BUDGET) -B $(B) --programs '$(PROGRAMS)' \
	    --points $(GRID_POINTS) $(BENCH_DATA)

# Predictions of `edenscope simulate` against real runs. PROGRAMS: some of them only.
SIMULATE_ROWS ?= 300000
SIMULATE_DATA := $(B)/bench/rows-$(SIMULATE_ROWS).csv

.PHONY: bench-simulate
bench-simulate: $(B)/bin/edenscope $(LIFE_WORKLOADS) $(SIMULATE_DATA) ## compare predictions of edenscope simulate with real runs over a grid of parameters (420 runs, about ten minutes; root)
	@bench/simulate_grid.py -B $(B) --programs '$(PROGRAMS)' $(SIMULATE_DATA)

# The papers' experiments. SCALE=1: files of their sizes, the largest at a tenth; TIMES: how often each run is done.
SCALE ?= 1
TIMES ?= 1
REPRODUCE = scripts/reproduce --scale $(SCALE) --times $(TIMES) -B $(B)

REPROS := repro repro-tuning repro-dataframe repro-filip repro-large
.PHONY: $(REPROS)
$(REPROS): $(B)/bin/edenscope $(LIFE_WORKLOADS) $(addprefix $(B)/workloads/,micro patterns mkdata)
# Paper C's Table 5: what bench-lifetimes measured last, or else does now.
$(B)/bench/lifetimes.json:
	@$(MAKE) --no-print-directory bench-lifetimes
ifeq ($(SCALE),1)
repro repro-filip: $(B)/bench/lifetimes.json
endif
repro: ## the papers' tables and figures, into docs/reproduction.md (SCALE=0.02: minutes; the papers' sizes: two hours; root)
	@$(REPRODUCE) --page docs/reproduction.md
repro-tuning: ## paper A (tuning): its tables and figures, printed; figures and data into build/repro
	@$(REPRODUCE) --only tuning
repro-dataframe: ## paper B (lifetimes of the data frame): likewise
	@$(REPRODUCE) --only lifetimes
repro-filip: ## paper C (FiLiP): likewise; its Table 5 is of the last bench-lifetimes, or of one now
	@$(REPRODUCE) --only filip
repro-large: ## the tables of papers A and B with a quarter of the largest file, for repro to quote (an hour, 8 GB of memory)
	@$(REPRODUCE) --large-scale 0.25 --only tables,configurations -o $(B)/repro-large
