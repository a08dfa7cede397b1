#include "percpu/cpu_number.hpp"

namespace atl::percpu {

ATOLL_PER_CPU PerCpu<u32> cpu_number;

}  // namespace atl::percpu
