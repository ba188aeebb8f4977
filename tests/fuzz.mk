# The heap fuzzer is heap_fuzz.c, the command heap-fuzz; without arguments it runs the plan of `make test`.
UNIT_TESTS := $(filter-out $(B)/tests/heap_fuzz,$(UNIT_TESTS)) $(B)/tests/heap-fuzz
$(B)/tests/heap-fuzz: $(B)/tests/heap_fuzz
	cp --remove-destination $< $@
