# Line coverage of runtime/ by the unit tests and the heap fuzzer: gcov's counts (part of gcc), summed up by a script.
# A build of its own, without optimisation, so that lines are what they seem. check.c is not in it: the checked build
# ends in abort, which counts nothing; test_faults.sh has a case for each thing that it says.
COVERAGE := $(B)/coverage
COVERAGE_SEEDS ?= 40

.PHONY: coverage coverage-run
coverage: ## line coverage of runtime/ by the unit tests
	@scripts/setup
	@rm -rf $(COVERAGE)
	@$(MAKE) --no-print-directory -s $(JOBS) B=$(COVERAGE) OPT='-O0 -g --coverage' \
		LDFLAGS=--coverage coverage-run
	@scripts/coverage $(COVERAGE)

coverage-run: unit-tests
	@for test in $(filter-out %/heap-fuzz,$(UNIT_TESTS)); do \
		timeout 600 $$test >$(B)/log.txt 2>&1 || { cat $(B)/log.txt; echo "coverage: $$test failed"; exit 1; }; done
	@timeout 600 $(B)/tests/heap-fuzz --first 1 --seeds $(COVERAGE_SEEDS) >/dev/null
