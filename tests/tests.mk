# Tests, static checks, installation.
#
# TESTS lists executables (scripts/run-tests says how they report). A file tests/unit/ROOM/NAME.c becomes the cmocka
# program $(B)/tests/NAME, linked with libeden and, as an archive, the tool; LDLIBS of one that needs more are below.
# UNIT_TESTS run a second time under gcc's address and undefined-behaviour sanitizers (SAN=1).
ifeq ($(SAN),1)
# -Wno-error: gcc's flow warnings have false positives amid the sanitizers' own code; the ordinary build has them all.
SAN_FLAGS := -Wno-error -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all
CFLAGS_ALL += $(SAN_FLAGS)
LDFLAGS += $(SAN_FLAGS)
endif

UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
UNIT_FROM_SOURCE := $(patsubst %.c,$(B)/tests/%,$(notdir $(UNIT_SRC)))
UNIT_TESTS := $(UNIT_FROM_SOURCE)
TESTS := $(wildcard tests/e2e/test_*.sh)
# Those of TESTS that attach no probe and run no program that another one attaches to: they run beside others, as unit
# tests do. What they build is built before.
BESIDE_TESTS := $(addprefix tests/e2e/,test_archive.sh test_callgraph.sh test_examples.sh test_faults.sh test_fuzz.sh \
	test_lifetimes_shares.sh test_limits.sh test_memory.sh test_notes.sh test_peers.sh test_regret.sh test_tsan.sh)
# Those that attach to what they start, by its id or as their own program, and ask nothing about the machine or about who
# else listens to that program: they run two at a time, but beside none that looks at other processes.
TOGETHER_TESTS := $(addprefix tests/e2e/,test_repro.sh test_lifetimes_record.sh test_record_ends.sh test_page.sh \
	test_checked.sh test_tuning_docs.sh test_lifetimes_sites.sh test_micro.sh test_dataframe.sh test_tune_patterns.sh \
	test_simulate.sh test_lifetimes_children.sh test_lifetimes_pretenure.sh test_background.sh test_lifetimes_actionable.sh \
	test_lifetimes_stacks.sh test_record_locked.sh test_record_rotate.sh test_record_on.sh test_histo.sh test_views.sh test_lifetimes_docs.sh test_late.sh \
	test_plugins.sh test_patterns.sh test_hostile_recording.sh test_stat_under_way.sh test_lifetimes_letgo.sh \
	test_bench_lifetimes.sh test_chrome.sh test_contained.sh test_otlp.sh test_tune_trials.sh test_diff.sh test_mobidyc.sh test_honeyginger.sh \
	test_moose.sh test_bloc.sh test_inspectors.sh test_script_labels.sh test_targets.sh test_threads.sh)
CPPFLAGS_tests := -Iruntime -Ibpf -Iworkloads -Itests -Itests/unit

include tests/programs/programs.mk tests/fuzz/fuzz.mk probes/probes.mk scripts/lint.mk scripts/install.mk

define UNIT_RULE
$(B)/tests/$(notdir $(1)): $(B)/$(1).o
endef
$(foreach test,$(UNIT_SRC:.c=),$(eval $(call UNIT_RULE,$(test))))
# Without probes' notes: a test of the runtime asserts what nobody observes, and another test's `-a` would observe it.
UNSEEN := $(patsubst tests/unit/runtime/%.c,$(B)/tests/%,$(filter tests/unit/runtime/%,$(UNIT_SRC)))
UNSEE = objcopy --remove-section .note.stapsdt $@
$(UNIT_FROM_SOURCE): $(B)/tests/unit/suite.o $(B)/lib/libedenscope.a $(B)/lib/libeden-internals.a
	@mkdir -p $(@D)
	$(CC) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) $(LDLIBS) -lcmocka $(BPF_LIBS) -lm -lpthread
	$(if $(filter $@,$(UNSEEN)),$(UNSEE))

# The public headers compiled as C++17, with warnings, and called.
$(B)/tests/test_abi: $(B)/tests/unit/runtime/embed_cxx.o
$(B)/tests/test_abi: LDLIBS += -lstdc++
$(B)/tests/unit/runtime/embed_cxx.o: tests/unit/runtime/embed_cxx.cpp
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS_ALL) -std=c++17 $(WARN) -Wpedantic -O2 -g $(SAN_FLAGS) -fPIC -MMD -MP -c $< -o $@
# Catches what the batch probe hands over.
$(addprefix $(B)/tests/test_,lifetimes life_mechanisms life_regions life_walk): LDLIBS += -Wl,--wrap=eden_probe_batch
$(B)/tests/test_lifetimes: LDLIBS += -Wl,--wrap=eden_probe_batch__requested
# Catches what remembered__scan reports.
$(B)/tests/test_remembered_scan: LDLIBS += -Wl,--wrap=eden_probe_remembered__scan
# Counts who takes the threads.
$(B)/tests/test_lazy_sweep: LDLIBS += -Wl,--wrap=workers_take
# Refuses threads.
$(B)/tests/test_parallel: LDLIBS += -Wl,--wrap=pthread_create
# Catches what census reports.
$(B)/tests/test_census: LDLIBS += -Wl,--wrap=eden_probe_census
# Catches what alloc__failed reports.
$(B)/tests/test_overhead: LDLIBS += -Wl,--wrap=eden_probe_alloc__failed
# Catches what policy__decide reports.
$(B)/tests/test_policy: LDLIBS += -Wl,--wrap=eden_probe_policy__decide
# Somebody cuts the file of a trial's figures between its size and its bytes, or takes a link away.
$(B)/tests/test_tune_trial $(B)/tests/test_stats_log: LDLIBS += -Wl,--wrap=fstat
# A process becomes another program between two of its files.
$(B)/tests/test_heapinfo: LDLIBS += -Wl,--wrap=open
# Memory is refused to JSON.
$(B)/tests/test_forms: LDLIBS += -Wl,--wrap=malloc
# A worker that does not answer.
$(B)/tests/test_symbols: LDLIBS += -Wl,--wrap=inspect_functions
# libbpf's part is played by the test.
$(B)/tests/test_ring: LDLIBS += $(foreach name,new free consume,-Wl,--wrap=ring_buffer__$(name))
# The kernel's part is played by the test.
# A worker that is stopped seems to compute; one waits for an owner.
$(B)/tests/test_inspect: LDLIBS += $(foreach name,target_state target_owner target_owner_at_once,-Wl,--wrap=$(name))
# Counts what is read.
$(B)/tests/test_heapinfo: LDLIBS += -Wl,--wrap=target_read
$(B)/tests/test_source: LDLIBS += $(foreach name,inspect_heap kernel_set_spec kernel_heaps kernel_share kernel_shares kernel_lost kernel_attach kernel_expect_twins \
	kernel_last_serial kernel_notices kernel_give_back kernel_uses_multi kernel_descriptors kernel_arm kernel_follows kernel_lost_kind kernel_observe source_take_notices source_missed_children,-Wl,--wrap=$(name))
# The views of lifetimes.
$(filter %/test_forms $(B)/tests/test_life_view_%,$(UNIT_FROM_SOURCE)): $(B)/tests/unit/bpf/life_views.o
$(B)/tests/unit/bpf/test_life_view_profiles.o: CPPFLAGS_ALL += -isystem $(B)/bpf
$(B)/tests/unit/bpf/test_life_view_profiles.o: $(B)/bpf/profile.pb-c.h

# One job a processor, unless make was called with a number.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: unit-tests test-programs
unit-tests: $(UNIT_TESTS)
test-programs: $(ALL) $(UNIT_TESTS) $(filter $(B)/%,$(TESTS))

# They begin first, so that no processor is idle at the end.
LONG_UNITS := $(foreach test,heap-fuzz test_policy test_overhead test_life_mechanisms,$(B)/tests/$(test) $(B)/san/tests/$(test))

# Set-up comes first, and what is built is decided after it: hence makes of their own.
test: ## install what is missing, build everything, run every test (root, for the probes)
	@scripts/setup
	@$(MAKE) --no-print-directory -s $(JOBS) test-programs
	@$(MAKE) --no-print-directory -s $(JOBS) SAN=1 B=$(B)/san unit-tests
	@$(MAKE) --no-print-directory -s $(JOBS) checked-faults tsan-program
	@B=$(B) scripts/run-tests $(CHECKS) $(LONG_UNITS) $(BESIDE_TESTS) \
		$(filter-out $(LONG_UNITS),$(UNIT_TESTS) $(UNIT_TESTS:$(B)/%=$(B)/san/%)) -- \
		$(filter-out $(BESIDE_TESTS) $(TOGETHER_TESTS),$(TESTS)) -- $(TOGETHER_TESTS)

# Not sanitized: what asserts instructions, notes or bytes of memory, which the sanitizers change; what limits address
# space, of which they reserve terabytes; what runs under Valgrind or builds for itself, without the sanitizers' flags.
# Programs of the other tests end with heaps alive, as many do: leaks are looked for in the unit tests alone.
NOT_SANITIZED := $(addprefix tests/e2e/,test_notes.sh test_memory.sh test_limits.sh test_faults.sh test_fuzz.sh \
	test_archive.sh test_callgraph.sh test_examples.sh test_install.sh test_peers.sh test_tsan.sh test_lifetimes_letgo.sh test_lifetimes_pretenure.sh)
test-san: ## run the whole suite once, tool and libeden under the address and undefined-behaviour sanitizers
	@scripts/setup
	@$(MAKE) --no-print-directory -s $(JOBS) SAN=1 B=$(B)/san test-programs
	@echo "not sanitized: $(NOT_SANITIZED)"
	@B=$(B)/san scripts/run-tests $(UNIT_TESTS:$(B)/%=$(B)/san/%) --
	@B=$(B)/san TEST_LIMIT=900 ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 scripts/run-tests $(filter-out $(NOT_SANITIZED),$(TESTS))
.PHONY: test-san

test-page: $(ALL) $(B)/tests/exercise $(B)/tests/hostile ## look at the page of `report --html` in headless Chromium, and open a trace in speedscope; installs both
	@scripts/setup page
	@B=$(B) scripts/run-tests -- $(wildcard tests/browser/test_*.sh)
test-prometheus: $(ALL) $(B)/tests/giveback ## let a real Prometheus, VictoriaMetrics and systemd, which this installs, use `export`
	@scripts/setup prometheus
	@B=$(B) scripts/run-tests -- $(wildcard tests/fleet/test_*.sh)
test-fleet: $(ALL) $(B)/tests/exercise ## ask a real ClickHouse, which this installs, about the events of 1,000 simulated hosts
	@scripts/setup fleet
	@B=$(B) scripts/run-tests -- tests/clickhouse/test_fleet.sh
test-tools: $(B)/bin/edenscope $(B)/tests/children ## let bcc's trace and argdist, and a later bpftrace than Debian's, which this installs, use the probes (root)
	@scripts/setup tools
	@B=$(B) scripts/run-tests -- $(wildcard tests/tools/test_*.sh)
.PHONY: test-page test-prometheus test-fleet test-tools

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

# Debian keeps bpftool where only root's PATH looks.
export PATH := $(PATH):/usr/sbin
