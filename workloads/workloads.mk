# Programs of the kinds that the papers measured, on libeden; their data sets, and the demo.
#
# A program is a folder of its name, program.c and the libraries LIBS_NAME. Objects stand in $(B)/obj, for the program
# in $(B)/workloads bears the folder's name.
CPPFLAGS_workloads := -Iworkloads
WORKLOADS := $(filter-out mkdata,$(foreach folder,$(notdir $(wildcard workloads/*)),\
	$(basename $(notdir $(wildcard workloads/$(folder)/$(folder).c)))))
LIBS_mobidyc := -ljansson
LIBS_dataframe := -lcsv -ljansson
LIBS_honeyginger := -ljansson
ALL += $(WORKLOADS:%=$(B)/workloads/%) $(B)/workloads/mkdata

# The objects of a program, or of its folder's other files alone.
workload_objects = $(patsubst %.c,$(B)/obj/%.o,$(wildcard workloads/$(1)/*.c) workloads/program.c)
workload_parts = $(filter-out %/$(1).o %/program.o,$(call workload_objects,$(1)))

define PROGRAM_RULE
$(B)/workloads/$(1): $(call workload_objects,$(1)) $(B)/lib/libeden.a
	@mkdir -p $$(@D)
	$$(CC) -o $$@ $$^ $$(LDFLAGS) $$(LIBS_$(1)) -lm -lpthread
endef
$(foreach program,$(WORKLOADS),$(eval $(call PROGRAM_RULE,$(program))))

$(B)/workloads/mkdata: $(B)/obj/workloads/mkdata/mkdata.o
	@mkdir -p $(@D)
	$(CC) -o $@ $(filter %.o,$^) $(LDFLAGS)

demo: ## set up, build, make a data set of ROWS rows, load it under edenscope and report (root)
	@scripts/demo $(if $(ROWS),$(ROWS))
