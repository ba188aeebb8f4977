# Documentation that is made from the lists of this folder, and the examples that it quotes.
REFERENCES := probes parameters figures

$(B)/gen/print_reference: $(B)/probes/print_reference.o
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm

docs: $(B)/gen/print_reference ## write docs/probes.md, parameters.md and figures.md from the lists of probes/
	@for reference in $(REFERENCES); do $(B)/gen/print_reference $$reference >docs/$$reference.md || exit 1; done

.PHONY: docs
test-programs: $(B)/gen/print_reference
