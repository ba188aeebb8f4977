# The papers' experiments. SCALE=1: their 529 MB, 1.6 and 3.1 GB; TIMES: how often each run is done.
SCALE ?= 1
TIMES ?= 1

.PHONY: repro
repro: $(B)/bin/edenscope $(addprefix $(B)/workloads/,dataframe micro patterns mkdata) ## the papers' tables and figures, into docs/reproduction.md (SCALE=0.02: minutes; the papers' sizes: hours; root)
	@scripts/reproduce --scale $(SCALE) --times $(TIMES) -B $(B) --page docs/reproduction.md
