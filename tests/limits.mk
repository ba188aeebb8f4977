# What test_limits.sh runs with too little memory; each verifies its heaps at their end.
LIMITED := $(addprefix $(B)/tests/limits-,dataframe queue mixed)
$(B)/tests/limits-mixed: $(B)/tests/limits.o
$(B)/tests/limits-queue: $(call workload_objects,queue)
$(B)/tests/limits-dataframe: $(call workload_objects,dataframe)
$(B)/tests/limits-dataframe: LDLIBS += $(LIBS_dataframe)
$(LIMITED): $(B)/tests/verify_at_end.o $(B)/lib/libeden-internals.a
	@mkdir -p $(@D)
	$(CC) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) -Wl,--wrap=eden_heap_destroy $(LDLIBS) -lm -lpthread
test-programs: $(LIMITED)

.PHONY: test-limits
test-limits: ## run four programs with too little memory, in 30 sizes of each kind of limit
	@scripts/setup
	@$(MAKE) --no-print-directory -s $(JOBS) $(LIMITED) $(B)/workloads/mkdata
	@LIMIT_SIZES=30 TEST_LIMIT=900 B=$(B) scripts/run-tests tests/e2e/test_limits.sh
	@cat $(B)/tests/log/tests_e2e_test_limits.sh.log
