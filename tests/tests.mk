# Tests, static checks, installation.
#
# TESTS lists executables (scripts/run-tests says how they report); other fragments of this folder append to it.
# Those under $(B)/ are built first. A file tests/unit/NAME.c becomes the cmocka program $(B)/tests/NAME, linked with
# libeden and, as an archive, the tool; one that needs more says so in a fragment: `$(B)/tests/NAME: LDLIBS += ...`.
# UNIT_TESTS run a second time under gcc's address and undefined-behaviour sanitizers (SAN=1).
ifeq ($(SAN),1)
# -Wno-error: gcc's flow warnings have false positives amid the sanitizers' own code; the ordinary build has them all.
SAN_FLAGS := -Wno-error -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
CFLAGS_ALL += $(SAN_FLAGS)
LDFLAGS += $(SAN_FLAGS)
endif

UNIT_FROM_SOURCE := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/*.c))
UNIT_TESTS := $(UNIT_FROM_SOURCE)
TESTS := $(wildcard tests/e2e/test_*.sh)
# Those of TESTS that attach no probe and run no program that another one attaches to: they run beside others, as unit
# tests do. What they build is built before.
BESIDE_TESTS := $(addprefix tests/e2e/,test_archive.sh test_faults.sh test_fuzz.sh test_lifetimes_shares.sh \
	test_limits.sh test_memory.sh test_notes.sh test_tsan.sh)
CPPFLAGS_tests := -Iruntime -Ibpf -Iworkloads

include $(filter-out tests/tests.mk,$(wildcard tests/*.mk))
include scripts/lint.mk scripts/install.mk

# Objects are kept: a pattern rule alone would make them intermediate files.
.SECONDARY: $(patsubst tests/unit/%.c,$(B)/tests/unit/%.o,$(wildcard tests/unit/*.c))
$(UNIT_FROM_SOURCE): $(B)/tests/%: $(B)/tests/unit/%.o $(B)/lib/libedenscope.a $(B)/lib/libeden-internals.a
	@mkdir -p $(@D)
	$(CC) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) $(LDLIBS) -lcmocka $(BPF_LIBS) -lm -lpthread

# One job a processor, unless whoever called make said how many.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: unit-tests test-programs
unit-tests: $(UNIT_TESTS)
test-programs: $(ALL) $(UNIT_TESTS) $(filter $(B)/%,$(TESTS))

# Set-up comes first, and what is built is decided after it: hence makes of their own.
test: ## install what is missing, build everything, run every test (root, for the probes)
	@scripts/setup
	@$(MAKE) --no-print-directory -s $(JOBS) test-programs
	@$(MAKE) --no-print-directory -s $(JOBS) SAN=1 B=$(B)/san unit-tests
	@$(MAKE) --no-print-directory -s $(JOBS) checked-faults tsan-program
	@B=$(B) scripts/run-tests $(UNIT_TESTS) $(UNIT_TESTS:$(B)/%=$(B)/san/%) $(BESIDE_TESTS) -- \
		$(filter-out $(BESIDE_TESTS),$(TESTS))

# Not sanitized: what asserts instructions, notes or bytes of memory, which the sanitizers change; what limits address
# space, of which they reserve terabytes; what runs under Valgrind or builds for itself, without the sanitizers' flags.
# Programs of the other tests end with heaps alive, as many do: leaks are looked for in the unit tests alone.
NOT_SANITIZED := $(addprefix tests/e2e/,test_notes.sh test_memory.sh test_limits.sh test_faults.sh test_fuzz.sh \
	test_archive.sh test_install.sh test_tsan.sh test_lifetimes_letgo.sh test_lifetimes_pretenure.sh)
test-san: ## run the whole suite once, tool and libeden under the address and undefined-behaviour sanitizers
	@scripts/setup
	@$(MAKE) --no-print-directory -s $(JOBS) SAN=1 B=$(B)/san test-programs
	@echo "not sanitized: $(NOT_SANITIZED)"
	@B=$(B)/san scripts/run-tests $(UNIT_TESTS:$(B)/%=$(B)/san/%) --
	@B=$(B)/san TEST_LIMIT=900 ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 scripts/run-tests $(filter-out $(NOT_SANITIZED),$(TESTS))
.PHONY: test-san

# Debian keeps bpftool where only root's PATH looks.
export PATH := $(PATH):/usr/sbin
