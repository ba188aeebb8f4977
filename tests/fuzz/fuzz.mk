# The heap fuzzer, of tests/fuzz/: the command heap-fuzz, which without arguments runs the plan of `make test`; and
# fuzzing of what reads strangers' bytes: tests/fuzz/readers/reader_NAME.c is $(B)/tests/reader-NAME, which runs a fixed
# number of mutations, as a unit test and so under the sanitizers too; and $(B)/tests/fuzz-NAME, for libFuzzer.
FUZZ_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out %/main.c %/target.c,$(wildcard tests/fuzz/*.c)))
READERS := $(patsubst tests/fuzz/readers/reader_%.c,%,$(wildcard tests/fuzz/readers/reader_*.c))
READER_TESTS := $(READERS:%=$(B)/tests/reader-%)
UNIT_TESTS += $(B)/tests/heap-fuzz $(READER_TESTS)

# fuzz-target: the same as heap-fuzz for libFuzzer and AFL++, which bring a main() of their own.
$(B)/tests/heap-fuzz: $(B)/tests/fuzz/main.o
$(B)/tests/fuzz-target: $(B)/tests/fuzz/target.o
$(B)/tests/heap-fuzz $(B)/tests/fuzz-target: $(FUZZ_OBJ) $(B)/bpf/model/lifetimes/decode.o $(B)/bpf/util/array.o \
		$(B)/lib/libeden-internals.a
	@mkdir -p $(@D)
	$(CC) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) -Wl,--wrap=eden_probe_batch -lcmocka -lm -lpthread
	$(UNSEE)

READER_PARTS := $(addprefix $(B)/tests/fuzz/readers/,support.o elf_image.o) $(call workload_parts,dataframe) $(B)/obj/workloads/program.o \
	$(B)/lib/libedenscope.a $(B)/lib/libeden-internals.a
.SECONDARY: $(READERS:%=$(B)/tests/fuzz/readers/reader_%.o)
$(READER_TESTS): $(B)/tests/fuzz/readers/main.o
$(READER_TESTS): $(B)/tests/reader-%: $(B)/tests/fuzz/readers/reader_%.o $(READER_PARTS)
$(READERS:%=$(B)/tests/fuzz-%): $(B)/tests/fuzz-%: $(B)/tests/fuzz/readers/reader_%.o $(READER_PARTS)
$(READER_TESTS) $(READERS:%=$(B)/tests/fuzz-%):
	@mkdir -p $(@D)
	$(CC) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) $(BPF_LIBS) -lcsv -lm -lpthread

# Seeds over the table of all pairs of options (pairs.c).
SEEDS ?= 10000
SAN_SEEDS ?= 100
.PHONY: test-seeds
test-seeds: ## run SEEDS (10000) of the heap fuzzer over all pairs of options, and SAN_SEEDS (100) under ASan and UBSan
	@scripts/setup
	@$(MAKE) --no-print-directory -s $(JOBS) $(B)/tests/heap-fuzz
	@$(MAKE) --no-print-directory -s $(JOBS) SAN=1 B=$(B)/san $(B)/san/tests/heap-fuzz
	@$(B)/tests/heap-fuzz --pairs --seeds $(SEEDS) --jobs $(shell nproc)
	@$(B)/san/tests/heap-fuzz --pairs --seeds $(SAN_SEEDS) --jobs $(shell nproc)

FUZZ_SECONDS ?= 60
FUZZERS ?= heap $(READERS)
fuzz: ## fuzz the heap (libFuzzer, AFL++) and what reads strangers' bytes, FUZZERS (all), each for FUZZ_SECONDS (60)
	@$(if $(filter-out heap,$(FUZZERS)),$(MAKE) --no-print-directory -s fuzz-readers)
	@$(if $(filter heap,$(FUZZERS)),$(MAKE) --no-print-directory -s fuzz-heap)

# Only the runtime's coverage counts for libFuzzer, and its comparisons do not: no constant in it has to be guessed, and
# tracing them takes half of the time.
comma := ,
LIBFUZZER_FLAGS := CFLAGS=-fsanitize=address LDFLAGS=-fsanitize=fuzzer$(comma)address \
	CPPFLAGS_runtime='-fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp'
FUZZ_TARGET = @$(MAKE) --no-print-directory -s $(JOBS) SAN=0 CHECKED=0 B=$(B)/fuzz/$(1) $(2) \
	$(B)/fuzz/$(1)/tests/fuzz-target
fuzz-heap:
	@scripts/setup fuzz
	@$(MAKE) --no-print-directory -s $(JOBS) $(B)/tests/heap-fuzz
	$(call FUZZ_TARGET,build-libfuzzer,CC=clang $(LIBFUZZER_FLAGS))
	$(call FUZZ_TARGET,build-afl,CC=afl-clang-fast AFL_QUIET=1 LDFLAGS=-fsanitize=fuzzer)
	@B=$(B) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz

# By libFuzzer, under the address and undefined-behaviour sanitizers, with the coverage of what is read.
READER_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fprofile-instr-generate -fcoverage-mapping
READERS_CHOSEN = $(filter-out heap,$(FUZZERS))
fuzz-readers:
	@scripts/setup fuzz
	@$(MAKE) --no-print-directory -s $(JOBS) $(READER_TESTS)
	@$(MAKE) --no-print-directory -s $(JOBS) SAN=0 CHECKED=0 B=$(B)/fuzz/readers CC=clang OPT='-O1 -g' \
		CFLAGS='$(READER_FLAGS) -fsanitize=fuzzer-no-link' LDFLAGS='$(READER_FLAGS) -fsanitize=fuzzer' \
		$(READERS_CHOSEN:%=$(B)/fuzz/readers/tests/fuzz-%)
	@B=$(B) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz-readers $(READERS_CHOSEN)
.PHONY: fuzz fuzz-heap fuzz-readers
