// Host tests: nothing of arch/mmu.hpp is inline; tests/host/fake/mmu.cpp defines it all.
#pragma once
