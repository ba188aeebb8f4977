# The heap fuzzer, of tests/fuzz/: the command heap-fuzz, which without arguments runs the plan of `make test`.
FUZZ_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out %/target.c,$(wildcard tests/fuzz/*.c)))
UNIT_TESTS += $(B)/tests/heap-fuzz
$(B)/tests/heap-fuzz: $(FUZZ_OBJ) $(B)/bpf/model/lifetimes/decode.o $(B)/lib/libeden-internals.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -Wl,--wrap=eden_probe_batch -lcmocka -lm -lpthread

# The same, for libFuzzer and AFL++, which bring a main() of their own.
$(B)/tests/fuzz-target: $(filter-out %/main.o,$(FUZZ_OBJ)) $(B)/tests/fuzz/target.o $(B)/bpf/model/lifetimes/decode.o $(B)/lib/libeden-internals.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -Wl,--wrap=eden_probe_batch -lcmocka -lm -lpthread

FUZZ_SECONDS ?= 60
# Only the runtime's coverage counts for libFuzzer, and its comparisons do not: no constant in it has to be guessed, and
# tracing them takes half of the time.
comma := ,
LIBFUZZER_FLAGS := CFLAGS=-fsanitize=address LDFLAGS=-fsanitize=fuzzer$(comma)address \
	CPPFLAGS_runtime='-fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp'
FUZZ_TARGET = @$(MAKE) --no-print-directory -s $(JOBS) SAN=0 CHECKED=0 B=$(B)/fuzz/$(1) $(2) \
	$(B)/fuzz/$(1)/tests/fuzz-target
FUZZERS ?= heap $(READERS)
fuzz: ## fuzz the heap (libFuzzer, AFL++) and what reads strangers' bytes, FUZZERS (all), each for FUZZ_SECONDS (60)
	@$(if $(filter-out heap,$(FUZZERS)),$(MAKE) --no-print-directory -s fuzz-readers)
	@$(if $(filter heap,$(FUZZERS)),$(MAKE) --no-print-directory -s fuzz-heap)

fuzz-heap:
	@scripts/setup fuzz
	@$(MAKE) --no-print-directory -s $(JOBS) $(B)/tests/heap-fuzz
	$(call FUZZ_TARGET,build-libfuzzer,CC=clang $(LIBFUZZER_FLAGS))
	$(call FUZZ_TARGET,build-afl,CC=afl-clang-fast AFL_QUIET=1 LDFLAGS=-fsanitize=fuzzer)
	@B=$(B) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz

.PHONY: fuzz fuzz-heap
