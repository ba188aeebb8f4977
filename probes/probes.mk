# Documentation that is made from the lists of this folder, and the examples that it quotes.
REFERENCES := probes parameters figures

$(B)/gen/print_reference: $(B)/probes/print_reference.o
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm

docs: $(B)/gen/print_reference ## write docs/probes.md, parameters.md, figures.md and the tables of scripts/ from probes/
	@for reference in $(REFERENCES); do $(B)/gen/print_reference $$reference >docs/$$reference.md || exit 1; done
	@for script in scripts/bpftrace/*.bt; do \
	    $(B)/gen/print_reference script <$$script >$(B)/gen/script && cat $(B)/gen/script >$$script || exit 1; done

.PHONY: docs
test-programs: $(B)/gen/print_reference
