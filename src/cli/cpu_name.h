// What is this machine's CPU called?
#pragma once

#include <string>

namespace ferrox {

/// The model name the kernel gives, or "unknown".
std::string cpu_name();

}  // namespace ferrox
