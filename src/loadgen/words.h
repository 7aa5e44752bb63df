// What do prompts consist of? Common English words, most of them one token in most vocabularies.
#pragma once

#include <cstddef>
#include <string>

#include "loadgen/random.h"

namespace ferrox {

/// `n` words with a blank between two.
std::string random_words(LoadRandom& random, size_t n);

}  // namespace ferrox
