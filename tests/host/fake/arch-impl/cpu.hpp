// Host tests: nothing of arch/cpu.hpp is inline; tests/host/fake/cpu.cpp defines it all.
#pragma once
