# Mutated device trees and libFuzzer targets (docs/testing.md, "Fuzzing"). Included by tests/host/host.mk,
# whose HOST_KERNEL it takes.
#
#   make fuzz [MINUTES=n]      libFuzzer, all targets side by side (tests/fuzz/search.py)
#   make fuzz-build            only their programs; a part of host-build, so that `make check` links them
#   make build/fuzz/mutant     the program that writes one mutant of a tree to a file

FUZZ_DIR := build/fuzz
MUTATOR_SOURCES := $(addprefix tests/fuzz/,flat_tree.cpp mutator.cpp tree_mutator.cpp)
MUTATION_SOURCES := $(MUTATOR_SOURCES) tests/fuzz/invariants.cpp

# One for many thousand runs, so it has no sanitizer to start.
$(FUZZ_DIR)/mutant: tests/fuzz/mutant.cpp $(MUTATOR_SOURCES) lib/format.cpp $(wildcard tests/fuzz/*.hpp)
	@echo "  HOSTCXX $@"
	@mkdir -p $(@D)
	$(if $(V),,@)g++ -std=c++23 -O1 -Wall -Wextra -Werror -I. -Iarch-arm64/include -o $@ $(filter %.cpp,$^)

# libFuzzer comes with clang. What is fuzzed is compiled with it, in a directory of its own. The pure files of the
# kernel go into an archive: of it the linker takes what a target calls, so no list has to follow the sources.
FUZZ_TARGETS := device_tree command_line monitor
FUZZ_KERNEL := $(HOST_KERNEL) mm/memory_map.cpp lib/format.cpp lib/result.cpp
FUZZ_COMMON := $(MUTATION_SOURCES) tests/fuzz/fuzz_target.cpp
FUZZ_OBJECTS := $(FUZZ_COMMON:%.cpp=$(FUZZ_DIR)/obj/%.o)
FUZZ_ARCHIVE := $(FUZZ_DIR)/kernel.a
FUZZ_ARCHIVED := $(FUZZ_KERNEL:%.cpp=$(FUZZ_DIR)/obj/%.o)
FUZZ_CXXFLAGS := -std=c++23 -O1 -g1 -Wall -Wextra -Werror -fno-omit-frame-pointer -fno-sanitize-recover=all \
                 -I. -Iarch-arm64/include -Itests/host/fake
MINUTES ?= 1

$(FUZZ_DIR)/obj/%.o: %.cpp tests/fuzz/fuzz.mk
	@echo "  CLANG   $<"
	@mkdir -p $(@D)
	$(if $(V),,@)clang++-19 $(FUZZ_CXXFLAGS) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<

$(FUZZ_ARCHIVE): $(FUZZ_ARCHIVED)
	@rm -f $@
	$(if $(V),,@)ar rcs $@ $^

FUZZ_PROGRAMS := $(FUZZ_TARGETS:%=$(FUZZ_DIR)/%_fuzz)
$(FUZZ_PROGRAMS): $(FUZZ_DIR)/%: $(FUZZ_DIR)/obj/tests/fuzz/%.o $(FUZZ_OBJECTS) $(FUZZ_ARCHIVE)
	@echo "  LINK    $@"
	$(if $(V),,@)clang++-19 -fsanitize=fuzzer,address,undefined -o $@ $^ -l:libfdt.so.1

.SECONDARY: $(FUZZ_TARGETS:%=$(FUZZ_DIR)/obj/tests/fuzz/%_fuzz.o)
-include $(FUZZ_OBJECTS:.o=.d) $(FUZZ_ARCHIVED:.o=.d) $(FUZZ_TARGETS:%=$(FUZZ_DIR)/obj/tests/fuzz/%_fuzz.d)

.PHONY: fuzz fuzz-build
fuzz-build: $(FUZZ_PROGRAMS)
fuzz: $(FUZZ_PROGRAMS)
	@python3 -m tests.fuzz.search --minutes $(MINUTES) $(FUZZ_TARGETS)
