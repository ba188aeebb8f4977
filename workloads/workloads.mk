# The papers' benchmark programs on libeden, their data sets, and the demo.
#
# A program is workloads/NAME.c, program.c, the objects of the folder FOLDER_NAME, and libraries LIBS_NAME.
CPPFLAGS_workloads := -Iworkloads
WORKLOADS := $(filter-out program mkdata,$(patsubst workloads/%.c,%,$(wildcard workloads/*.c)))
FOLDER_dataframe := frame
FOLDER_honeyginger := sph
FOLDER_mobidyc := agents
FOLDER_bloc := boids
FOLDER_moose := model
FOLDER_micro := allocation
FOLDER_patterns := pathology
LIBS_bloc := -ljansson
LIBS_moose := -lbpf -ljansson
LIBS_mobidyc := -ljansson
LIBS_dataframe := -lcsv -ljansson
LIBS_honeyginger := -ljansson
ALL += $(WORKLOADS:%=$(B)/workloads/%) $(B)/workloads/mkdata

define PROGRAM_RULE
$(B)/workloads/$(1): $(B)/workloads/$(1).o $(B)/workloads/program.o $(if $(FOLDER_$(1)),$(patsubst %.c,$(B)/%.o,$(wildcard workloads/$(FOLDER_$(1))/*.c))) $(B)/lib/libeden.a
	$$(CC) -o $$@ $$^ $$(LDFLAGS) $$(LIBS_$(1)) -lm -lpthread
endef
$(foreach program,$(WORKLOADS),$(eval $(call PROGRAM_RULE,$(program))))

$(B)/workloads/mkdata: $(B)/workloads/mkdata.o
	$(CC) -o $@ $(filter %.o,$^) $(LDFLAGS)

demo: ## set up, build, make a data set of ROWS rows, load it under edenscope and report (root)
	@scripts/demo $(if $(ROWS),$(ROWS))
