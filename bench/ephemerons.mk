# Programs that measure one thing of the collector, on libeden alone.
$(B)/bench/ephemerons $(B)/bench/remembered $(B)/bench/pretenure: $(B)/bench/%: $(B)/bench/%.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm -lpthread

.PHONY: bench-ephemerons bench-remembered bench-pretenure
bench-ephemerons: $(B)/bench/ephemerons ## time one full collection with 277,777 ephemerons in a chain of keys
	@$<
bench-remembered: $(B)/bench/remembered ## time scavenges with a large old array: remembered_set=object and card
	@bench/remembered.py $<
bench-pretenure: $(B)/bench/pretenure $(B)/workloads/dataframe $(B)/bench/data.csv ## time programs with pretenure=FILE, auto and none (paired runs)
	@bench/pretenure.py $(B)/bench/pretenure $(B)/workloads/dataframe $(B)/bench/data.csv
