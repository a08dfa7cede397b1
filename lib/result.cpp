#include "lib/result.hpp"

namespace atl {

const char* to_string(Error error) {
  switch (error) {
    case Error::no_memory: return "out of memory";
    case Error::invalid_argument: return "invalid argument";
    case Error::out_of_range: return "out of range";
    case Error::already_exists: return "already exists";
    case Error::not_found: return "not found";
    case Error::not_supported: return "not supported";
    case Error::busy: return "busy";
    case Error::timed_out: return "timed out";
    case Error::denied: return "denied";
    case Error::bad_firmware_data: return "bad firmware data";
  }
  return "unknown error";
}

}  // namespace atl
