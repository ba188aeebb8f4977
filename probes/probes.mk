# Documentation that is made from the lists of this folder, and the examples that it quotes.
REFERENCES := probes parameters figures

$(B)/gen/print_reference: $(B)/probes/print_reference.o
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm

docs: $(B)/gen/print_reference $(B)/bin/edenscope ## write docs/probes.md, parameters.md, figures.md, schemas and the tables of scripts/ from the code
	@for reference in $(REFERENCES); do $(B)/gen/print_reference $$reference >docs/$$reference.md || exit 1; done
	@$(B)/gen/print_reference schema >docs/schemas/definitions.json
	@$(B)/gen/print_reference clickhouse >scripts/clickhouse/eden-events.sql
	@$(B)/bin/edenscope report --view list --json | jq -rf bpf/views/rows/schema.jq >docs/schemas/view.json
	@for script in scripts/bpftrace/*.bt; do \
	    $(B)/gen/print_reference script <$$script >$(B)/gen/script && cat $(B)/gen/script >$$script || exit 1; done

.PHONY: docs
test-programs: $(B)/gen/print_reference
