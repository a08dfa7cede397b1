# Mutated device trees and libFuzzer targets (docs/testing.md, "Fuzzing"). Included by tests/host/host.mk.
#
#   make fuzz [MINUTES=n]      libFuzzer, all targets side by side (tests/fuzz/search.py)
#   make build/fuzz/mutant     the program that writes one mutant of a tree to a file

FUZZ_DIR := build/fuzz
MUTATOR_SOURCES := $(addprefix tests/fuzz/,flat_tree.cpp mutator.cpp tree_mutator.cpp)
MUTATION_SOURCES := $(MUTATOR_SOURCES) tests/fuzz/invariants.cpp

# One for many thousand runs, so it has no sanitizer to start.
$(FUZZ_DIR)/mutant: tests/fuzz/mutant.cpp $(MUTATOR_SOURCES) lib/format.cpp $(wildcard tests/fuzz/*.hpp)
	@echo "  HOSTCXX $@"
	@mkdir -p $(@D)
	$(if $(V),,@)g++ -std=c++23 -O1 -Wall -Wextra -Werror -I. -Iarch-arm64/include -o $@ $(filter %.cpp,$^)

# libFuzzer comes with clang. What is fuzzed is compiled with it, in a directory of its own.
FUZZ_TARGETS := device_tree command_line monitor
FUZZ_KERNEL := $(addprefix kernel/,command_line.cpp command_table.cpp cpu_numbering.cpp device_tree.cpp \
                 fdt_interrupt.cpp fdt_walker.cpp line_editor.cpp) mm/memory_map.cpp lib/format.cpp lib/result.cpp
FUZZ_SOURCES := $(FUZZ_KERNEL) $(MUTATION_SOURCES) tests/fuzz/fuzz_target.cpp
FUZZ_OBJECTS := $(FUZZ_SOURCES:%.cpp=$(FUZZ_DIR)/obj/%.o)
FUZZ_CXXFLAGS := -std=c++23 -O1 -g1 -Wall -Wextra -Werror -fno-omit-frame-pointer -fno-sanitize-recover=all \
                 -I. -Iarch-arm64/include -Itests/host/fake
MINUTES ?= 1

$(FUZZ_DIR)/obj/%.o: %.cpp tests/fuzz/fuzz.mk
	@echo "  CLANG   $<"
	@mkdir -p $(@D)
	$(if $(V),,@)clang++-19 $(FUZZ_CXXFLAGS) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<

FUZZ_PROGRAMS := $(FUZZ_TARGETS:%=$(FUZZ_DIR)/%_fuzz)
$(FUZZ_PROGRAMS): $(FUZZ_DIR)/%: $(FUZZ_DIR)/obj/tests/fuzz/%.o $(FUZZ_OBJECTS)
	@echo "  LINK    $@"
	$(if $(V),,@)clang++-19 -fsanitize=fuzzer,address,undefined -o $@ $^ -l:libfdt.so.1

.SECONDARY: $(FUZZ_TARGETS:%=$(FUZZ_DIR)/obj/tests/fuzz/%_fuzz.o)
-include $(FUZZ_OBJECTS:.o=.d) $(FUZZ_TARGETS:%=$(FUZZ_DIR)/obj/tests/fuzz/%_fuzz.d)

.PHONY: fuzz
fuzz: $(FUZZ_PROGRAMS)
	@python3 -m tests.fuzz.search --minutes $(MINUTES) $(FUZZ_TARGETS)
