# The public headers compiled as C++17, with warnings, and called.
$(B)/tests/test_abi: $(B)/tests/unit/embed_cxx.o
$(B)/tests/test_abi: LDLIBS += -lstdc++
$(B)/tests/unit/embed_cxx.o: tests/unit/embed_cxx.cpp
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS_ALL) -std=c++17 $(WARN) -Wpedantic -O2 -g $(SAN_FLAGS) -fPIC -MMD -MP -c $< -o $@

# Catches what the batch probe hands over.
$(B)/tests/test_lifetimes $(B)/tests/test_life_mechanisms $(B)/tests/test_life_regions $(B)/tests/test_life_walk: LDLIBS += -Wl,--wrap=eden_probe_batch
# Catches what remembered__scan tells.
$(B)/tests/test_remembered_scan: LDLIBS += -Wl,--wrap=eden_probe_remembered__scan
