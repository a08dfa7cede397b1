#include "percpu/cpu_number.hpp"

namespace atoll::percpu {

ATOLL_PER_CPU PerCpu<u32> cpu_number;

}  // namespace atoll::percpu
