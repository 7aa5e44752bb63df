// How does a test load the tiny model it describes?
#pragma once

#include <memory>
#include <stdexcept>

#include "arch/arch.h"
#include "support/temp_folder.h"
#include "support/tiny_model.h"

namespace ferrox::testing {

/// A tiny model and the file that it reads from.
struct LoadedModel {
  TempFolder folder;
  TinyFile tiny;
  std::unique_ptr<GgufFile> file;
  std::unique_ptr<Model> model;

  explicit LoadedModel(const TinyModel& description, int32_t max_batch_rows = 64) : tiny(tiny_model(description)) {
    tiny.write(folder / "model.gguf");
    auto opened = GgufFile::open(folder / "model.gguf");
    if (!opened) throw std::runtime_error(opened.error().message);
    file = std::make_unique<GgufFile>(std::move(*opened));
    auto loaded = load_model(*file, {.max_batch_rows = max_batch_rows});
    if (!loaded) throw std::runtime_error(loaded.error().message);
    model = std::move(*loaded);
  }
};

}  // namespace ferrox::testing
