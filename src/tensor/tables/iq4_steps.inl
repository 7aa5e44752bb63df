// Which sixteen values do IQ4_NL and IQ4_XS choose from? Uneven steps, denser near zero.
#pragma once

namespace ferrox {
namespace {

constexpr int kIq4Zero = 128;

/// -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113, each plus kIq4Zero.
constexpr uint8_t kIq4Codes[16] = {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};

}  // namespace
}  // namespace ferrox
