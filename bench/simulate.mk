# Predictions of `edenscope simulate` against real runs. PROGRAMS: some of them only.
SIMULATE_ROWS ?= 300000
SIMULATE_DATA := $(B)/bench/rows-$(SIMULATE_ROWS).csv
ifneq ($(SIMULATE_DATA),$(LIFETIMES_DATA))
$(SIMULATE_DATA): $(B)/workloads/mkdata
	@mkdir -p $(@D)
	$< $(SIMULATE_ROWS) >$@.new && mv $@.new $@
endif

.PHONY: bench-simulate
bench-simulate: $(B)/bin/edenscope $(LIFE_WORKLOADS) $(SIMULATE_DATA) ## compare predictions of edenscope simulate with real runs over a grid of parameters (420 runs, about ten minutes; root)
	@bench/simulate_grid.py -B $(B) --programs '$(PROGRAMS)' $(SIMULATE_DATA)
