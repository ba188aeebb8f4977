# What lifetimes cost. PROGRAMS, SAMPLINGS: some of them only.
LIFETIMES_ROWS ?= 1000000
LIFETIMES_PAIRS ?= 20
EPHEMERON_PAIRS ?= 5
LIFE_WORKLOADS := $(addprefix $(B)/workloads/,dataframe honeyginger mobidyc bloc moose)
# The choices; empty: all.
PROGRAMS ?=
SAMPLINGS ?=

# The name has the number, so that another number is another file.
LIFETIMES_DATA := $(B)/bench/rows-$(LIFETIMES_ROWS).csv
$(LIFETIMES_DATA): $(B)/workloads/mkdata
	@mkdir -p $(@D)
	$< $(LIFETIMES_ROWS) >$@.new && mv $@.new $@

.PHONY: bench-lifetimes
bench-lifetimes: $(B)/bench/selftime.so $(B)/bin/edenscope $(LIFE_WORKLOADS) $(LIFETIMES_DATA) $(B)/bench/data.csv ## time the five programs under edenscope lifetimes, at four rates (paired runs, about fifty minutes; root)
	@bench/lifetimes.py -n $(LIFETIMES_PAIRS) -e $(EPHEMERON_PAIRS) -B $(B) --selftime $(B)/bench/selftime.so \
	    --programs '$(PROGRAMS)' --samplings '$(SAMPLINGS)' $(LIFETIMES_DATA) $(B)/bench/data.csv

# Whether samples have the classes' shares.
SHARES_SEEDS ?= 20
.PHONY: bench-shares
bench-shares: $(B)/bin/edenscope $(LIFE_WORKLOADS) $(LIFETIMES_DATA) ## compare the shares of classes at 1% and 0.1% with all objects, over 20 seeds (ten minutes; root)
	@bench/shares.py -n $(SHARES_SEEDS) -B $(B) --programs '$(PROGRAMS)' $(LIFETIMES_DATA)

# The papers' tables and figures of lifetimes. REPRO_ROWS: two million are the papers' 86 million objects.
REPRO_ROWS ?= 2000000
REPRO_DATA := $(B)/repro/rows-$(REPRO_ROWS).csv
$(REPRO_DATA): $(B)/workloads/mkdata
	@mkdir -p $(@D)
	$< $(REPRO_ROWS) >$@.new && mv $@.new $@

.PHONY: repro-lifetimes
repro-lifetimes: $(B)/bin/edenscope $(LIFE_WORKLOADS) $(REPRO_DATA) ## the papers' tables and figures of lifetimes on the five programs, into build/repro/lifetimes (about ten minutes; root)
	@scripts/lifetimes-tables -B $(B) --programs '$(PROGRAMS)' --samplings '$(SAMPLINGS)' $(REPRO_DATA)

# All of FiLiP's in one command: what it costs is Tables 5 and 6. One after the other, for times are measured.
.PHONY: repro-filip
repro-filip: ## FiLiP's Tables 1 to 6 and Figures 2 to 5 on the five programs, into build/repro/lifetimes (repro-lifetimes, then bench-lifetimes: about an hour; root)
	@$(MAKE) --no-print-directory repro-lifetimes
	@$(MAKE) --no-print-directory bench-lifetimes >$(B)/repro/lifetimes/cost.txt.new
	@mv $(B)/repro/lifetimes/cost.txt.new $(B)/repro/lifetimes/cost.txt && cat $(B)/repro/lifetimes/cost.txt

# Whether a process that was observed is left as it was.
LETGO_PAIRS ?= 10
CPPFLAGS_bench := -Iworkloads
$(B)/bench/steady: $(B)/bench/steady.o $(B)/obj/workloads/program.o $(call workload_parts,honeyginger) $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -ljansson -lm -lpthread

.PHONY: bench-letgo
bench-letgo: $(B)/bench/steady $(B)/bin/edenscope ## time a process before and after ten seconds of lifetimes (ten minutes; root)
	@bench/letgo.py -n $(LETGO_PAIRS) -B $(B)
