#include "loadgen/words.h"

#include <iterator>

namespace ferrox {
namespace {

constexpr const char* kWords[] = {
    "river", "stone",    "cloud",  "green",  "seven",  "paper",  "light",  "house",  "winter", "table",  "garden",
    "music", "early",    "north",  "window", "silver", "water",  "people", "story",  "hand",   "city",   "road",
    "night", "morning",  "friend", "letter", "small",  "great",  "open",   "white",  "black",  "summer", "school",
    "field", "mountain", "sea",    "bread",  "horse",  "train",  "bridge", "market", "king",   "child",  "voice",
    "heart", "glass",    "fire",   "snow",   "wind",   "forest", "island", "door",   "street", "number", "world",
    "year",  "work",     "book",   "name",   "line",   "side",   "part",   "place",  "time",
};

}  // namespace

std::string random_words(LoadRandom& random, size_t n) {
  std::string text;
  for (size_t i = 0; i < n; ++i) {
    if (i > 0) text += ' ';
    text += kWords[random.below(std::size(kWords))];
  }
  return text;
}

}  // namespace ferrox
