// How do recurrent layers walk through the rows of a sequence? Row by row, in one order; lanes are channels, so that no
// sum crosses them and threads may share out channels.
namespace ferrox {
namespace {

inline void find_decays(float bias, float rate, int64_t n, float* steps, float* decays) {
  for (int64_t i = 0; i < n; i += 16) {
    const F step = softplus(add(load_part(steps, i, n), set1_f(bias)));
    store_part(steps, i, n, step);
    store_part(decays, i, n, exp(mul(step, set1_f(rate))));
  }
}

/// Row `row` of what is convolved: those before 0 lie in the tail.
inline const float* convolved_row(const ConvolutionArgs& args, int64_t row) {
  return row < 0 ? args.tail + (row + args.n_taps - 1) * args.channel_stride : args.x + row * args.x_stride;
}

inline F convolve_lanes(const ConvolutionArgs& args, int64_t row, int64_t channel) {
  const int64_t n = args.n_channels;
  F sum = args.bias != nullptr ? load_part(args.bias, channel, n) : zero_f();
  for (int64_t tap = 0; tap < args.n_taps; ++tap) {
    const F x = load_part(convolved_row(args, row + tap - (args.n_taps - 1)), channel, n);
    sum = fma(x, load_part(args.weights + tap * args.channel_stride, channel, n), sum);
  }
  return sum;
}

inline void convolve(const ConvolutionArgs& args) {
  for (int64_t row = 0; row < args.n_rows; ++row) {
    float* out = args.out + row * args.out_stride;
    for (int64_t channel = 0; channel < args.n_channels; channel += 16) {
      store_part(out, channel, args.n_channels, convolve_lanes(args, row, channel));
    }
  }
  for (int64_t i = 0; i + 1 < args.n_taps; ++i) {  // ascending: what is still to be read lies behind
    const float* row = convolved_row(args, args.n_rows - (args.n_taps - 1) + i);
    __builtin_memcpy(args.tail + i * args.channel_stride, row, static_cast<size_t>(args.n_channels) * 4);
  }
}

/// Rows that scans go through at once: their sums stay in the first cache, whatever the rows' distance in memory is.
constexpr int64_t kScannedRows = 16;

/// 16 channels of up to kScannedRows rows.
struct ScanTile {
  int64_t first_row;
  int64_t n_rows;
  F inputs[kScannedRows];  ///< what moves the states: step * x
  F sums[kScannedRows];    ///< out
};

/// A tile's rows through kStates states, which stay in registers.
template <int kStates>
inline void scan_states(const ScanArgs& args, int64_t first_state, float* stored, ScanTile& tile) {
  F state[kStates];
  for (int i = 0; i < kStates; ++i) state[i] = load_f(stored + 16 * i);
  for (int64_t row = 0; row < tile.n_rows; ++row) {
    const float* b = args.b + (tile.first_row + row) * args.bc_stride + first_state;
    const float* c = args.c + (tile.first_row + row) * args.bc_stride + first_state;
    const F input = tile.inputs[row];
    const F decay = set1_f(args.decays[tile.first_row + row]);
    F sum = tile.sums[row];
    for (int i = 0; i < kStates; ++i) {
      state[i] = fma(input, set1_f(b[i]), mul(state[i], decay));
      sum = fma(state[i], set1_f(c[i]), sum);
    }
    tile.sums[row] = sum;
  }
  for (int i = 0; i < kStates; ++i) store_f(stored + 16 * i, state[i]);
}

/// All states of 16 channels through a tile's rows.
inline void scan_tile(const ScanArgs& args, int64_t channel, ScanTile& tile) {
  for (int64_t row = 0; row < tile.n_rows; ++row) {
    const F x = load_part(args.x + (tile.first_row + row) * args.x_stride, channel, args.n_channels);
    tile.inputs[row] = mul(x, set1_f(args.steps[tile.first_row + row]));
    tile.sums[row] = mul(x, set1_f(args.skip));
  }
  float* stored = args.state + channel * args.n_states;
  int64_t state = 0;
  for (; state + kScannedStates <= args.n_states; state += kScannedStates) {
    scan_states<kScannedStates>(args, state, stored + 16 * state, tile);
  }
  for (; state < args.n_states; ++state) scan_states<1>(args, state, stored + 16 * state, tile);
}

/// visit(channel, tile) for each 16 channels and, in order, each tile of their rows; then writes the sums out.
template <class Args, class Visit>
inline void for_each_tile(const Args& args, const Visit& visit) {
  for (int64_t channel = 0; channel < args.n_channels; channel += 16) {
    for (int64_t row = 0; row < args.n_rows; row += kScannedRows) {
      ScanTile tile;
      tile.first_row = row;
      tile.n_rows = kScannedRows < args.n_rows - row ? kScannedRows : args.n_rows - row;
      visit(channel, tile);
      for (int64_t i = 0; i < tile.n_rows; ++i) {
        store_part(args.out + (row + i) * args.out_stride, channel, args.n_channels, tile.sums[i]);
      }
    }
  }
}

inline void scan(const ScanArgs& args) {
  for_each_tile(args, [&](int64_t channel, ScanTile& tile) { scan_tile(args, channel, tile); });
}

/// All states of 16 channels of Mamba 1 through a tile's rows.
inline void scan_channel_tile(const ChannelScanArgs& args, int64_t channel, ScanTile& tile) {
  F steps[kScannedRows];
  for (int64_t row = 0; row < tile.n_rows; ++row) {
    const int64_t at = tile.first_row + row;
    const F x = load_part(args.x + at * args.x_stride, channel, args.n_channels);
    steps[row] = load_part(args.steps + at * args.steps_stride, channel, args.n_channels);
    tile.inputs[row] = mul(x, steps[row]);
    tile.sums[row] = mul(x, load_part(args.skip, channel, args.n_channels));
  }
  for (int64_t index = 0; index < args.n_states; ++index) {
    const int64_t at = channel * args.n_states + index * 16;
    F state = load_f(args.state + at);
    const F rate = load_f(args.rates + at);
    for (int64_t row = 0; row < tile.n_rows; ++row) {
      const int64_t bc_at = (tile.first_row + row) * args.bc_stride + index;
      state = fma(state, exp(mul(steps[row], rate)), mul(tile.inputs[row], set1_f(args.b[bc_at])));
      tile.sums[row] = fma(state, set1_f(args.c[bc_at]), tile.sums[row]);
    }
    store_f(args.state + at, state);
  }
}

inline void scan_channels(const ChannelScanArgs& args) {
  for_each_tile(args, [&](int64_t channel, ScanTile& tile) { scan_channel_tile(args, channel, tile); });
}

/// Sums along a state's rows are taken in four parts, row i in part i % 4, so that additions needn't wait for each
/// other.
inline F join_parts(const F (&parts)[4]) { return add(add(parts[0], parts[1]), add(parts[2], parts[3])); }

/// sum over i of state[i] * k[i], for 16 channels.
inline F recall(const float* state, const float* k, int64_t n) {
  F parts[4] = {zero_f(), zero_f(), zero_f(), zero_f()};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int j = 0; j < 4; ++j) parts[j] = fma(load_f(state + 16 * (i + j)), set1_f(k[i + j]), parts[j]);
  }
  for (int j = 0; i + j < n; ++j) parts[j] = fma(load_f(state + 16 * (i + j)), set1_f(k[i + j]), parts[j]);
  return join_parts(parts);
}

/// state[i] = decay * state[i] + change * k[i], and the sum over i of the new state[i] * q[i].
inline F learn(float* state, F decay, F change, const float* k, const float* q, int64_t n) {
  const auto step = [&](int64_t i, F sum) {
    const F learned = fma(change, set1_f(k[i]), mul(load_f(state + 16 * i), decay));
    store_f(state + 16 * i, learned);
    return fma(learned, set1_f(q[i]), sum);
  };
  F parts[4] = {zero_f(), zero_f(), zero_f(), zero_f()};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int j = 0; j < 4; ++j) parts[j] = step(i + j, parts[j]);
  }
  for (int j = 0; i + j < n; ++j) parts[j] = step(i + j, parts[j]);
  return join_parts(parts);
}

inline void delta_rule(const DeltaRuleArgs& args) {
  for (int64_t channel = 0; channel < args.v_dim; channel += 16) {
    float* state = args.state + channel * args.k_dim;
    for (int64_t row = 0; row < args.n_rows; ++row) {
      const float* q = args.q + row * args.stride;
      const float* k = args.k + row * args.stride;
      const F decay = set1_f(args.decays[row]);
      const F expected = mul(recall(state, k, args.k_dim), decay);
      const F change =
          mul(sub(load_part(args.v + row * args.stride, channel, args.v_dim), expected), set1_f(args.betas[row]));
      store_part(args.out + row * args.out_stride, channel, args.v_dim, learn(state, decay, change, k, q, args.k_dim));
    }
  }
}

}  // namespace
}  // namespace ferrox
