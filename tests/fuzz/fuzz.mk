# Mutated device trees and libFuzzer targets (docs/testing.md, "Fuzzing"). Included by tests/host/host.mk.
#
#   make fuzz [MINUTES=n]      libFuzzer, all targets side by side
#   make build/fuzz/mutant     the program that writes one mutant of a tree to a file

FUZZ_DIR := build/fuzz
MUTATOR_SOURCES := $(addprefix tests/fuzz/,flat_tree.cpp mutator.cpp tree_mutator.cpp)
MUTATION_SOURCES := $(MUTATOR_SOURCES) tests/fuzz/invariants.cpp

# One for many thousand runs, so it has no sanitizer to start.
$(FUZZ_DIR)/mutant: tests/fuzz/mutant.cpp $(MUTATOR_SOURCES) lib/format.cpp $(wildcard tests/fuzz/*.hpp)
	@echo "  HOSTCXX $@"
	@mkdir -p $(@D)
	$(if $(V),,@)g++ -std=c++23 -O1 -Wall -Wextra -Werror -I. -Iarch-arm64/include -o $@ $(filter %.cpp,$^)
