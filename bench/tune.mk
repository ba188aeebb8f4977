# How good tune is, against an exhaustive grid. PROGRAMS: some only; GRID_POINTS: so many of its points, 0 being all.
TUNE_ROUNDS ?= 21
TUNE_BUDGET ?= 60
GRID_POINTS ?= 0

.PHONY: bench-tune
bench-tune: $(B)/bin/edenscope $(WORKLOADS:%=$(B)/workloads/%) $(B)/bench/pretenure $(B)/bench/data.csv ## compare tune with a grid of 216 points on each program (about an hour; root for the rules)
	@bench/tune_grid.py -n $(TUNE_ROUNDS) --budget $(TUNE_BUDGET) -B $(B) --programs '$(PROGRAMS)' \
	    --points $(GRID_POINTS) $(B)/bench/data.csv
