# Several heaps in several threads, with a tool's accesses from outside, under the thread sanitizer.
$(B)/tests/threads: $(B)/tests/threads.o $(B)/lib/libeden-internals.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm -lpthread

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
