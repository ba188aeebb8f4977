# Programs that tests run: tests/programs/NAME.c is $(B)/tests/NAME, with libeden.
P := $(B)/tests/programs
TEST_PROGRAMS := $(addprefix $(B)/tests/,allocators allocators-bare burst children exercise exercise-shared giveback held \
	hostile leaps limits-dataframe limits-mixed limits-queue parallel pauses phases plugin.so plugins probe_gun crowds races sites tails threads)
test-programs: $(TEST_PROGRAMS) $(B)/tests/edenscope

# The way to link each but two of them: the objects and archives that it depends on.
TEST_LINK = $(CC) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) $(LDLIBS) -lm -lpthread
$(filter-out %-shared %/probe_gun %/crowds %/races %.so,$(TEST_PROGRAMS)) $(B)/tests/faults-run:
	@mkdir -p $(@D)
	$(TEST_LINK)
$(addprefix $(B)/tests/,allocators allocators-bare burst children exercise giveback held leaps parallel pauses phases sites tails): \
	$(B)/tests/%: $(P)/%.o $(B)/lib/libeden.a
$(B)/tests/faults-run: $(P)/faults.o $(B)/lib/libeden.a
$(B)/tests/threads: $(P)/threads.o $(B)/lib/libeden-internals.a
# Its hand-made registry, headers and events go through libeden's own probes: with another copy of them it would have
# two registries, and tools see one a file.
$(B)/tests/hostile: $(patsubst %.c,$(B)/%.o,$(wildcard tests/programs/hostile/*.c)) $(B)/lib/libeden-internals.a

$(B)/tests/exercise-shared: $(P)/exercise.o $(B)/lib/libeden.so
	$(CC) -o $@ $(filter %.o,$^) -L$(B)/lib -Wl,-rpath,'$$ORIGIN/../lib' $(LDFLAGS) -leden
$(addprefix $(B)/tests/,probe_gun crowds races): $(B)/tests/%: $(P)/%.o $(B)/probes/probes.o
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lpthread

# A library with a libeden of its own, and a program that loads it.
$(B)/tests/plugin.so: $(P)/plugin.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -shared -o $@ $^ $(LDFLAGS) -lm -lpthread
$(B)/tests/plugins: $(P)/plugins.o

# The tool with switches: its object is linked in the place of the archive's.
$(B)/tests/edenscope: $(B)/bpf/cli/main.o $(P)/test_switch.o $(B)/lib/libedenscope.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) $(BPF_LIBS) -lm

# Native stacks: a program whose functions a stack can be followed through, and one where it ends after the first.
$(P)/allocators.o: CFLAGS_ALL += -fno-omit-frame-pointer -fno-optimize-sibling-calls
$(P)/allocators-bare.o: tests/programs/allocators.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CPPFLAGS_tests) $(CFLAGS_ALL) -fomit-frame-pointer -MMD -MP -c $< -o $@

# The five programs with a listener of their own.
SHARES := dataframe honeyginger mobidyc bloc moose
define SHARES_RULE
$(B)/tests/shares-$(1): $(call workload_objects,$(1)) $(P)/shares.o $(B)/lib/libeden-internals.a
	@mkdir -p $$(@D)
	$$(TEST_LINK)
$(B)/tests/shares-$(1): LDLIBS += -Wl,--wrap=eden_probe_batch,--wrap=eden_probe_class__define $(LIBS_$(1))
test-programs: $(B)/tests/shares-$(1)
endef
$(foreach program,$(SHARES),$(eval $(call SHARES_RULE,$(program))))

# What test_limits.sh runs with too little memory; each verifies its heaps at their end.
LIMITED := $(addprefix $(B)/tests/limits-,dataframe queue mixed)
$(B)/tests/limits-mixed: $(P)/limits.o
$(B)/tests/limits-queue: $(call workload_objects,queue)
$(B)/tests/limits-dataframe: $(call workload_objects,dataframe)
$(LIMITED): $(P)/verify_at_end.o $(B)/lib/libeden-internals.a
$(LIMITED): LDLIBS += -Wl,--wrap=eden_heap_destroy
$(B)/tests/limits-dataframe: LDLIBS += $(LIBS_dataframe)

.PHONY: test-limits
test-limits: ## run four programs with too little memory, in 30 sizes of each kind of limit
	@scripts/setup
	@$(MAKE) --no-print-directory -s $(JOBS) $(LIMITED) $(B)/workloads/mkdata
	@LIMIT_SIZES=30 TEST_LIMIT=900 B=$(B) scripts/run-tests tests/e2e/test_limits.sh
	@cat $(B)/tests/log/tests_e2e_test_limits.sh.log

# Mistakes seeded in faults.c, for the checked build to find (test_faults.sh builds and runs them). Checked builds have
# folders of their own: plain, for itself and Valgrind; and with gcc's sanitizers.
.PHONY: checked-faults
checked-faults:
	@$(MAKE) --no-print-directory -s CHECKED=1 SAN=0 B=$(B)/checked $(B)/checked/tests/faults-run $(B)/checked/workloads/mobidyc
	@$(MAKE) --no-print-directory -s CHECKED=1 SAN=1 B=$(B)/checked-san $(B)/checked-san/tests/faults-run

# Several heaps in several threads, with a tool's accesses from outside, under the thread sanitizer.
# -Wno-tsan: the sanitizer does not know fences; what they order is atomic by itself.
TSAN_FLAGS := -O1 -g -fsanitize=thread
.PHONY: tsan-program test-tsan
tsan-program:
	@$(MAKE) --no-print-directory -s $(JOBS) SAN=0 CHECKED=0 B=$(B)/tsan OPT='$(TSAN_FLAGS) -Wno-tsan' LDFLAGS='$(TSAN_FLAGS)' \
		$(B)/tsan/tests/threads
test-tsan: ## run heaps in several threads under the thread sanitizer, for TSAN_ROUNDS (50)
	@scripts/setup
	@TSAN_ROUNDS=$(or $(TSAN_ROUNDS),50) TEST_LIMIT=900 B=$(B) scripts/run-tests tests/e2e/test_tsan.sh
	@cat $(B)/tests/log/tests_e2e_test_tsan.sh.log
