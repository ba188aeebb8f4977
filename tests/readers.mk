# Fuzzing of what reads strangers' bytes: tests/readers/reader_NAME.c is $(B)/tests/reader-NAME, which runs a fixed number
# of mutations, as a unit test and so under the sanitizers too; and $(B)/tests/fuzz-NAME, for libFuzzer.
READERS := $(patsubst tests/readers/reader_%.c,%,$(wildcard tests/readers/reader_*.c))
READER_TESTS := $(READERS:%=$(B)/tests/reader-%)
UNIT_TESTS += $(READER_TESTS)
.SECONDARY: $(READERS:%=$(B)/tests/readers/reader_%.o)

READER_PARTS := $(B)/tests/readers/support.o $(B)/tests/readers/elf_image.o $(call workload_parts,dataframe) \
	$(B)/lib/libedenscope.a $(B)/lib/libeden-internals.a
READER_LINK = $(CC) -o $@ $^ $(LDFLAGS) $(BPF_LIBS) -lcsv -lm -lpthread
$(READER_TESTS): $(B)/tests/reader-%: $(B)/tests/readers/reader_%.o $(B)/tests/readers/main.o $(READER_PARTS)
	@mkdir -p $(@D)
	$(READER_LINK)
$(READERS:%=$(B)/tests/fuzz-%): $(B)/tests/fuzz-%: $(B)/tests/readers/reader_%.o $(READER_PARTS)
	@mkdir -p $(@D)
	$(READER_LINK)

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
.PHONY: fuzz-readers
